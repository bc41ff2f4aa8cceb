import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CLI } from '../../support/setup/built-package.ts';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** The environment of every command: sessions are stored in the home of the tests. */
export const CLI_ENV = {
  PATH: process.env.PATH,
  TOOLPLANE_HOME: process.env.TOOLPLANE_HOME,
  TOOLPLANE_SECRETS: 'file',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** Starts the command as a process with its own environment. */
export function startCli(args: readonly string[], place: Place = {}): ChildProcessWithoutNullStreams {
  const { cwd, env } = place;
  return spawn(process.execPath, [CLI, ...args], { cwd, env: { ...CLI_ENV, ...env } });
}

/** The working directory and environment. */
export type Place = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** Runs the command with this input; returns its output and exit code. */
export async function runCli(
  args: readonly string[],
  input = '',
  place: Place = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = startCli(args, place);
  // A command may exit without reading its input.
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, stdout, stderr };
}
