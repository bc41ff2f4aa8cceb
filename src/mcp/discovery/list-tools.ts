import type { ListedTool } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import { readHeaderParams } from '../connection/param-headers.ts';
import type { Discovered, ReadEntry } from './discovered.ts';
import type { Room } from './json-fault.ts';
import { type ListLimits, readList } from './read-list.ts';
import { readTool } from './read-tool.ts';

/** Asks for all pages and reads every tool on its own; rejects only if the server does not answer. */
export async function listTools(
  connection: Pick<Connection, 'name' | 'capabilities' | 'listTools' | 'mirrorsParams'>,
  { signal, limits }: { signal?: AbortSignal; limits?: Partial<ListLimits> } = {},
): Promise<Discovered<ListedTool>> {
  if (connection.capabilities.tools === undefined) return { items: [], diagnostics: [] };
  return readList(
    {
      server: connection.name,
      list: 'tools',
      ask: (cursor) => connection.listTools(cursor, signal),
      read: connection.mirrorsParams ? readMarkedTool : readTool,
    },
    limits,
  );
}

/** Where arguments travel as headers too, a tool that marks them wrongly must not be offered. */
function readMarkedTool(value: unknown, room: Room): ReadEntry<ListedTool> {
  const read = readTool(value, room);
  if ('fault' in read) return read;
  const marks = readHeaderParams(read.item.inputSchema);
  return 'fault' in marks ? { name: read.name, fault: marks.fault } : read;
}
