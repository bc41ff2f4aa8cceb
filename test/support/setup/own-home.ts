import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Sets one temporary home for all tests, so that none writes to the user's home or keychain. Vitest calls it first, and
 * the returned function last.
 */
export function setup(): () => void {
  const before = process.env.TOOLPLANE_HOME;
  const home = mkdtempSync(join(tmpdir(), 'toolplane-home-'));
  process.env.TOOLPLANE_HOME = home;
  process.env.TOOLPLANE_SECRETS = 'file';
  // Hundreds of processes load the same sources, so they share one compile cache.
  process.env.NODE_COMPILE_CACHE ??= join(home, 'compiled');
  return () => {
    if (before === undefined) delete process.env.TOOLPLANE_HOME;
    else process.env.TOOLPLANE_HOME = before;
    rmSync(home, { recursive: true, force: true });
  };
}
