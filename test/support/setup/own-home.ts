import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Sets one temporary home for all tests, so that none writes to the user's home or keychain, and one directory for
 * temporary files, so that none remain. Vitest calls it first, and the returned function last.
 */
export function setup(): () => void {
  const { TOOLPLANE_HOME, TMPDIR } = process.env;
  // Short, because sockets and rows of a terminal limit the length of paths.
  const root = mkdtempSync(join(tmpdir(), 'tp-'));
  // Some tests run programs as another user.
  chmodSync(root, 0o755);
  const home = join(root, 'home');
  mkdirSync(home, { mode: 0o700 });
  process.env.TOOLPLANE_HOME = home;
  process.env.TMPDIR = root;
  process.env.TOOLPLANE_SECRETS = 'file';
  // Hundreds of processes load the same sources, so they share one compile cache.
  process.env.NODE_COMPILE_CACHE ??= join(home, 'compiled');
  return () => {
    for (const [name, before] of Object.entries({ TOOLPLANE_HOME, TMPDIR }))
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    rmSync(root, { recursive: true, force: true });
  };
}
