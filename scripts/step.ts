import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The root directory of the project, independent of the working directory. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The path of a program in `node_modules/.bin`. */
export function bin(name: string): string {
  return `${ROOT}node_modules/.bin/${name}`;
}

export type StepOptions = {
  readonly cwd?: string;
  /** `stderr` leaves stdout to the JSON document of the calling command. */
  readonly output?: 'inherit' | 'stderr';
};

/** Runs a command with its title on stderr and its output shown; returns whether it succeeded. */
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

/** Like `step`, for steps that run concurrently: title and output are printed when the command has ended. */
export async function concurrentStep(
  title: string,
  command: string,
  args: readonly string[],
): Promise<boolean> {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const [code] = await once(child, 'close');
  process.stderr.write(`\n── ${title}\n`);
  process.stdout.write(Buffer.concat(output));
  if (code !== 0) console.error(`✗ ${title}`);
  return code === 0;
}
