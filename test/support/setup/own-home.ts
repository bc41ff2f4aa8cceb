import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives all tests one home for sessions, so that none is left in the home of who runs them. Vitest calls it first, and what it gives last. */
export function setup(): () => void {
  const before = process.env.TOOLPLANE_HOME;
  const home = mkdtempSync(join(tmpdir(), 'toolplane-home-'));
  process.env.TOOLPLANE_HOME = home;
  // Hundreds of processes load the same sources: what the first makes of them the others need not make again.
  process.env.NODE_COMPILE_CACHE ??= join(home, 'compiled');
  return () => {
    if (before === undefined) delete process.env.TOOLPLANE_HOME;
    else process.env.TOOLPLANE_HOME = before;
    rmSync(home, { recursive: true, force: true });
  };
}
