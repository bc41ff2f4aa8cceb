import { fileURLToPath } from 'node:url';
import type { Host } from '../../../../src/entry/host.ts';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';

/** The capabilities of `fixtures/odd-server.mjs` and its answers by method; other methods are unknown to the server. */
export type OddServer = {
  readonly capabilities: Readonly<Record<string, object>>;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Requests that are not answered: a method, or a method and a URI. */
  readonly hangs?: readonly string[];
  /** The process exits at the first request with this method; the file `marker` tells the next process about that. */
  readonly diesOnceAt?: string;
  readonly marker?: string;
};

export function odd(server: OddServer): StdioServerEntry {
  const script = fileURLToPath(new URL('../fixtures/odd-server.mjs', import.meta.url));
  return { command: process.execPath, args: [script, JSON.stringify(server)], era: 'legacy' };
}

/** The requests that the server received so far, without tool calls and handshakes. */
export async function askedOf(host: Host, server = 'odd'): Promise<string[]> {
  return (await toolOf(host, server, 'asked')) as string[];
}

/** Makes the server send a notification. */
export async function tell(host: Host, method: string, params: object = {}, server = 'odd'): Promise<void> {
  await toolOf(host, server, 'tell', { method, params });
}

/** Sets the answer to a method from now on. */
export async function answer(host: Host, method: string, result: unknown, server = 'odd'): Promise<void> {
  await toolOf(host, server, 'answer', { method, result });
}

/** Makes the server answer the requests that it left pending. */
export async function release(host: Host, server = 'odd'): Promise<void> {
  await toolOf(host, server, 'release');
}

export async function pidOf(host: Host, server = 'odd'): Promise<number> {
  return (await toolOf(host, server, 'pid')) as number;
}

async function toolOf(host: Host, server: string, tool: string, args = {}): Promise<unknown> {
  const { content } = await host.callTool(server, tool, args);
  const [block] = content;
  return block?.type === 'text' ? JSON.parse(block.text) : undefined;
}
