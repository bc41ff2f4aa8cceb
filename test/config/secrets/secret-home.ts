import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SecretsContext } from '../../../src/config/secrets/store-key.ts';

/** A home for secrets that is removed after the test. */
export type SecretHome = SecretsContext & {
  readonly sealed: string;
  readonly seed: string;
  readonly plain: string;
  /** Writes a file of the home. */
  write(path: string, text: string, mode?: number): void;
};

/** The home does not exist yet. */
export function secretHome(env: SecretsContext['env'] = {}): SecretHome {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const home = join(directory, 'home');
  return {
    home,
    env: { TOOLPLANE_SECRETS: 'file', ...env },
    platform: process.platform,
    sealed: join(home, 'secrets.enc'),
    seed: join(home, 'secrets.key'),
    plain: join(home, 'secrets.json'),
    write(path, text, mode = 0o600) {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      writeFileSync(path, text);
      chmodSync(path, mode);
    },
  };
}
