import { nearest } from '../../base/text/nearest.ts';
import type { Pool, PooledTool } from '../pool.ts';
import { filterOf, parseQuery, type SearchFilter } from './search-query.ts';

import type { ToolIndex } from './tool-index.ts';

/** How many tools can be selected by name at once, and for how many unknown names a suggestion is made. */
const MAX_NAMES = 20;
const MAX_SUGGESTIONS = 5;

/** Filters in addition to those of the query. */
export type SearchOptions = Omit<SearchFilter, 'required'> & {
  /** The maximum number of results. */
  readonly limit: number;
};

/** A requested name that does not exist, with a suggestion. */
type UnknownName = { readonly name: string; readonly suggestion?: string };

/** The result of a query, best match first. */
type SearchedPool = {
  readonly tools: readonly PooledTool[];
  /** Selected names without a tool. */
  readonly unknown: readonly UnknownName[];
  readonly unknownServer?: UnknownName;
};

/** Searches servers' tools by names, by a task in words with filters, or by filters alone, which list by name. */
export async function searchPool(
  text: string,
  { limit, ...narrowed }: SearchOptions,
  { pool, index }: { readonly pool: Pool; readonly index: ToolIndex },
): Promise<SearchedPool> {
  const query = parseQuery(text);
  if (query.kind === 'select') return select(query.names, pool);
  const { kind: _, ...asked } = { ...query, ...given(narrowed) };
  const unknownServer = asked.server === undefined ? undefined : missingServer(asked.server, pool);
  if (unknownServer) return { tools: [], unknown: [], unknownServer };
  const all = ofServers(pool);
  if (asked.text === '') return { tools: all.filter(filterOf(asked)).slice(0, limit), unknown: [] };
  index.sync(all);
  const hits = await index.search({ ...asked, limit });
  return { tools: hits.map(({ tool }) => tool), unknown: [] };
}

/** The tools of servers; always the same list for one pool. */
export function ofServers(pool: Pool): readonly PooledTool[] {
  const tools = lists.get(pool) ?? pool.tools.filter(({ origin }) => origin.kind === 'mcp');
  lists.set(pool, tools);
  return tools;
}

const lists = new WeakMap<Pool, readonly PooledTool[]>();

/** The keys of the servers whose tools are in the pool. */
export function serversOf(pool: Pool): string[] {
  return [...pool.byServer.keys()].sort();
}

/** The options that are defined, so that undefined ones do not override the query. */
function given(options: Omit<SearchOptions, 'limit'>): Omit<SearchOptions, 'limit'> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function select(names: readonly string[], pool: Pool): SearchedPool {
  const tools: PooledTool[] = [];
  const unknown: UnknownName[] = [];
  for (const name of [...new Set(names)].slice(0, MAX_NAMES)) {
    const tool = pool.byName.get(name) ?? byOwnName(name, pool);
    if (tool) tools.push(tool);
    else {
      const isGuessed = unknown.length < MAX_SUGGESTIONS;
      unknown.push(unknownName(name, isGuessed ? nearestToolName(name, [...pool.byName.keys()]) : undefined));
    }
  }
  return { tools, unknown };
}

/** A model may omit the prefix if only one tool has the name. */
function byOwnName(name: string, pool: Pool): PooledTool | undefined {
  const called = pool.tools.filter(({ origin }) => origin.tool === name);
  return called.length === 1 ? called[0] : undefined;
}

function missingServer(name: string, pool: Pool): UnknownName | undefined {
  const isThere = filterOf({ server: name });
  return ofServers(pool).some(isThere) ? undefined : unknownName(name, nearest(name, serversOf(pool)));
}

function unknownName(name: string, suggestion: string | undefined): UnknownName {
  return { name, ...(suggestion !== undefined && { suggestion: suggestion }) };
}

/** The tool of a pool that was most likely meant. Names of one server share a prefix, so that only the rest is compared. */
export function nearestToolName(name: string, known: readonly string[]): string | undefined {
  const end = name.lastIndexOf('__') + 2;
  const prefix = end > 2 ? name.slice(0, end) : '';
  const siblings = prefix === '' ? [] : known.filter((it) => it.startsWith(prefix));
  if (siblings.length === 0) return nearest(name, known);
  const suggestion = nearest(
    name.slice(end),
    siblings.map((it) => it.slice(end)),
  );
  return suggestion === undefined ? undefined : prefix + suggestion;
}
