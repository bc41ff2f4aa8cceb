import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

/** The command as a process, with an environment of its own. */
export function startCli(args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [CLI, ...args], { env: { PATH: process.env.PATH } });
}

/** What it printed and how it ended, given this input. */
export async function runCli(
  args: readonly string[],
  input = '',
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = startCli(args);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, stdout, stderr };
}
