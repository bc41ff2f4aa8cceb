import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CLI } from '../../support/setup/built-package.ts';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** What every command is given: sessions go where those of the tests are. */
export const CLI_ENV = {
  PATH: process.env.PATH,
  TOOLPLANE_HOME: process.env.TOOLPLANE_HOME,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** The command as a process, with an environment of its own. */
export function startCli(args: readonly string[], place: Place = {}): ChildProcessWithoutNullStreams {
  const { cwd, env } = place;
  return spawn(process.execPath, [CLI, ...args], { cwd, env: { ...CLI_ENV, ...env } });
}

/** Where it runs, if that matters. */
export type Place = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** What it printed and how it ended, given this input. */
export async function runCli(
  args: readonly string[],
  input = '',
  place: Place = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = startCli(args, place);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, stdout, stderr };
}
