import { fileURLToPath } from 'node:url';
import { PROCESSES } from '../../mcp/contract/support/third-party-servers.ts';

/** Published servers; listing them writes nothing. */
export const EVERYTHING = PROCESSES.everything;
export const MEMORY = PROCESSES.memory('no-such-memory.json');
export const { filesystem } = PROCESSES;

/** `fixtures/odd-server.mjs`; `env` can make it slow or record its requests. */
export const odd = (env: Readonly<Record<string, string>> = {}) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('../fixtures/odd-server.mjs', import.meta.url))],
  env,
  era: 'legacy' as const,
});

export const BROKEN = { command: 'no-such-command-at-all' };

/** A value of `--mcp-config`. */
export function config(mcpServers: Readonly<Record<string, object>>): string {
  return JSON.stringify({ mcpServers });
}
