import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const isInstalled = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** The Secret Service of GNOME, if it and a message bus are installed. */
export const KEYRINGS: readonly string[] = ['dbus-run-session', 'gnome-keyring-daemon'].every(isInstalled)
  ? ['gnome-keyring']
  : [];

/** The state of the Secret Service in which a program runs. */
export type KeyringState = 'unlocked' | 'locked' | 'no collection' | 'no bus';

const STARTED: Readonly<Record<KeyringState, string>> = {
  unlocked: 'printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1;',
  locked: 'gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1;',
  'no collection': '',
  'no bus': '',
};

/** A person with a keychain of their own, which is removed after the test. */
export function keyringUser() {
  const userHome = mkdtempSync(join(tmpdir(), 'toolplane-keyring-'));
  onTestFinished(() => rmSync(userHome, { recursive: true, force: true }));
  const runtime = join(userHome, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  return {
    home: join(userHome, '.toolplane'),
    /** Runs a module with its own message bus; returns its output. */
    async run(state: KeyringState, code: string, env: Record<string, string> = {}): Promise<string> {
      const node = [process.execPath, '--conditions=toolplane-source', '--input-type=module', '-e', code];
      const shell = ['sh', '-c', `${STARTED[state]} exec "$@"`, 'sh', ...node];
      const [command = '', ...args] = state === 'no bus' ? node : ['dbus-run-session', '--', ...shell];
      const { stdout } = await promisify(execFile)(command, args, {
        env: { PATH: process.env.PATH, HOME: userHome, XDG_RUNTIME_DIR: runtime, ...env },
      });
      return stdout;
    },
  };
}
