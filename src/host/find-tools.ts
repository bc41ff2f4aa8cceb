import { nearest } from '../base/nearest.ts';
import type { FoundTools } from './builtin/built-in.ts';
import type { Pool, PooledTool } from './pool/assemble.ts';
import { parseQuery } from './search/parse-query.ts';
import type { ToolIndex } from './search/tool-index.ts';
import type { ToolShelf } from './tool-shelf.ts';

/** Finds servers' tools by name or by what they do, and puts them on the shelf. */
export async function findTools(
  text: string,
  limit: number,
  { pool, index, shelf }: { readonly pool: Pool; readonly index: ToolIndex; readonly shelf: ToolShelf },
): Promise<FoundTools> {
  const query = parseQuery(text);
  const { told, searchable } = shelf.divide(pool);
  const known = new Set(told);
  const found =
    query.kind === 'select'
      ? select(query.names, pool)
      : { tools: await ranked(query, limit, pool, index), unknown: [] };
  shelf.load(found.tools.map(({ name }) => name));
  return {
    tools: found.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      isTold: known.has(tool),
    })),
    unknown: found.unknown,
    searchable: searchable.length,
    servers: serversOf(pool),
  };
}

async function ranked(
  query: Extract<ReturnType<typeof parseQuery>, { kind: 'search' }>,
  limit: number,
  pool: Pool,
  index: ToolIndex,
): Promise<PooledTool[]> {
  index.sync(ofServers(pool));
  const hits = await index.search({ ...query, limit });
  return hits.map(({ tool }) => tool);
}

function select(names: readonly string[], pool: Pool): Pick<FoundTools, 'unknown'> & { tools: PooledTool[] } {
  const tools: PooledTool[] = [];
  const unknown: { name: string; meant?: string }[] = [];
  for (const name of new Set(names)) {
    const tool = pool.byName.get(name) ?? byOwnName(name, pool);
    if (tool) tools.push(tool);
    else {
      const meant = nearest(
        name,
        pool.tools.map((it) => it.name),
      );
      unknown.push({ name, ...(meant !== undefined && { meant }) });
    }
  }
  return { tools, unknown };
}

/** A model may leave out the prefix; that is clear while one tool only is called so. */
function byOwnName(name: string, pool: Pool): PooledTool | undefined {
  const called = pool.tools.filter(({ origin }) => origin.tool === name);
  return called.length === 1 ? called[0] : undefined;
}

/** What is indexed: built-ins are always told. */
export function ofServers(pool: Pool): PooledTool[] {
  return pool.tools.filter(({ origin }) => origin.kind === 'mcp');
}

function serversOf(pool: Pool): string[] {
  const keys = pool.tools.flatMap(({ origin }) => (origin.kind === 'mcp' ? [origin.server] : []));
  return [...new Set(keys)].sort();
}
