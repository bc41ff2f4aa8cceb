import type { PooledTool } from '../../../src/pool/pool.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';

/** A tool as a pool contains it. */
export function pooled(server: string, tool: string, about: Partial<ListedTool> = {}): PooledTool {
  const listed: ListedTool = { name: tool, inputSchema: { type: 'object' }, ...about };
  return {
    name: `mcp__${server}__${tool}`.replace(/[^a-zA-Z0-9_-]/g, '_'),
    description: listed.description ?? '',
    inputSchema: listed.inputSchema,
    origin: { kind: 'mcp', server, tool },
    listed,
    alwaysLoad: false,
  };
}
