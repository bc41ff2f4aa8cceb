import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The checkout, whatever the caller's working directory is. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A program of `node_modules/.bin`. */
export function bin(name: string): string {
  return `${ROOT}node_modules/.bin/${name}`;
}

/** Runs one command with its output shown; true if it succeeded. */
export function step(title: string, command: string, args: readonly string[], cwd = ROOT): boolean {
  console.log(`\n── ${title}`);
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) console.error(`✗ ${title}`);
  return status === 0;
}
