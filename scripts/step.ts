import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The checkout, whatever the caller's working directory is. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A program of `node_modules/.bin`. */
export function bin(name: string): string {
  return `${ROOT}node_modules/.bin/${name}`;
}

export type StepOptions = {
  readonly cwd?: string;
  /** `stderr` keeps stdout free for the document of the command that runs this step. */
  readonly output?: 'inherit' | 'stderr';
};

/** Runs one command with its output shown and its title on stderr; true if it succeeded. */
export function step(
  title: string,
  command: string,
  args: readonly string[],
  { cwd = ROOT, output = 'inherit' }: StepOptions = {},
): boolean {
  console.error(`\n── ${title}`);
  const stdout = output === 'stderr' ? 2 : 'inherit';
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['inherit', stdout, 'inherit'] });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) console.error(`✗ ${title}`);
  return status === 0;
}
