import { fileURLToPath } from 'node:url';
import type { Options, SDKMessage } from '../../../src/entry/index.ts';
import type { CliSandbox } from '../../support/real-cli.ts';

/** The real CLI of a world: its own environment and directory, no built-in tools, no settings of the machine. */
export function realAgent(world: CliSandbox, more: Options = {}): Options {
  return {
    pathToClaudeCodeExecutable: world.cli,
    env: world.env,
    cwd: world.cwd,
    model: 'claude-sonnet-5',
    settingSources: [],
    tools: [],
    ...more,
  };
}

/** The official example server, run by the agent over stdio. */
export const EVERYTHING = {
  command: process.execPath,
  args: [
    fileURLToPath(
      new URL(
        '../../../interop/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
        import.meta.url,
      ),
    ),
    'stdio',
  ],
};

/** The text each turn ended with. */
export function results(messages: readonly SDKMessage[]): string[] {
  return messages.flatMap((it) => (it.type === 'result' && it.subtype === 'success' ? [it.result] : []));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves once no such process is left; no event reports the end of another process's child. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}
