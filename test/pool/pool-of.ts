import { assemble } from '../../src/pool/assemble.ts';
import type { Pool, PoolInput } from '../../src/pool/pool.ts';
import type { ListedTool } from '../../src/protocol/mcp.ts';

/** A tool of that name as a server lists it. */
export const listed = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  description: `about ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});

/** The pool of built-ins and servers, given by their tools' names. */
export const pool = (builtIns: string[], servers: Record<string, string[]>, more: Partial<PoolInput> = {}) =>
  assemble({
    builtIns: builtIns.map((name) => listed(name)),
    servers: new Map(Object.entries(servers).map(([key, tools]) => [key, tools.map((it) => listed(it))])),
    maxNameLength: 128,
    ...more,
  });

export const names = (it: Pool) => it.tools.map(({ name }) => name);
