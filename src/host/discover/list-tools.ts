import { isRecord } from '../../base/is-record.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { Connection } from '../connect/connection.ts';
import { readHeaderParams } from '../connect/param-headers.ts';
import { readTool } from './read-tool.ts';

/** Something a server listed that cannot be offered; everything else it listed is. */
export type DiscoveryDiagnostic = {
  server: string;
  /** The tool's name, or its place in the list when it has none; absent if the fault is the list's. */
  tool: string | undefined;
  fault: string;
};

export type Discovered = { tools: ListedTool[]; diagnostics: DiscoveryDiagnostic[] };

/** How many pages are asked for at most: a server may never stop. */
const MAX_PAGES = 100;

/** Asks for all pages and reads every tool on its own; rejects only if the server does not answer. */
export async function listTools(
  connection: Pick<Connection, 'name' | 'capabilities' | 'listTools' | 'mirrorsParams'>,
  { signal, maxPages = MAX_PAGES }: { signal?: AbortSignal; maxPages?: number } = {},
): Promise<Discovered> {
  const tools = new Map<string, ListedTool>();
  const diagnostics: DiscoveryDiagnostic[] = [];
  const note = (tool: string | undefined, fault: string) =>
    diagnostics.push({ server: connection.name, tool, fault });
  if (connection.capabilities.tools === undefined) return { tools: [], diagnostics };
  const asked = new Set<string>();
  let count = 0;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await connection.listTools(cursor, signal);
    const { tools: listed, nextCursor }: Record<string, unknown> = isRecord(answer) ? answer : {};
    if (!Array.isArray(listed)) note(undefined, `page ${page} of its list of tools has no "tools"`);
    for (const item of Array.isArray(listed) ? (listed as unknown[]) : []) {
      const read = readTool(item, `#${count++}`);
      if ('fault' in read) note(read.name, read.fault);
      else if (tools.has(read.tool.name)) note(read.tool.name, 'it is listed twice; the first is used');
      else {
        const marks = connection.mirrorsParams ? readHeaderParams(read.tool.inputSchema) : [];
        if ('fault' in marks) note(read.tool.name, marks.fault);
        else tools.set(read.tool.name, read.tool);
      }
    }
    if (typeof nextCursor !== 'string') break;
    if (asked.has(nextCursor)) {
      note(
        undefined,
        `its list of tools runs in circles: the cursor ${JSON.stringify(nextCursor)} came twice`,
      );
      break;
    }
    if (page === maxPages) {
      note(undefined, `its list of tools has more than ${maxPages} pages; the rest was not read`);
      break;
    }
    asked.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: [...tools.values()], diagnostics };
}
