import { fileURLToPath } from 'node:url';
import type { Host } from '../../../../src/entry/host.ts';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';

/** What `fixtures/odd-server.mjs` offers and answers, by method; what it has no answer for it does not know. */
export type OddServer = {
  readonly capabilities: Readonly<Record<string, object>>;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** What it does not answer: a method, or a method and an address. */
  readonly hangs?: readonly string[];
  /** The process ends when it is first asked this; `marker` is a file by which the next one knows. */
  readonly diesOnceAt?: string;
  readonly marker?: string;
};

export function odd(server: OddServer): StdioServerEntry {
  const script = fileURLToPath(new URL('../fixtures/odd-server.mjs', import.meta.url));
  return { command: process.execPath, args: [script, JSON.stringify(server)], era: 'legacy' };
}

/** What it was asked so far, tools and handshakes excepted. */
export async function askedOf(host: Host, server = 'odd'): Promise<string[]> {
  return (await toolOf(host, server, 'asked')) as string[];
}

/** Has it send a notification. */
export async function tell(host: Host, method: string, params: object = {}, server = 'odd'): Promise<void> {
  await toolOf(host, server, 'tell', { method, params });
}

/** From now on it answers so. */
export async function answer(host: Host, method: string, result: unknown, server = 'odd'): Promise<void> {
  await toolOf(host, server, 'answer', { method, result });
}

/** Has it answer what it let wait. */
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
