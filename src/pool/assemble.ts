import type { ListedTool } from '../protocol/mcp.ts';
import { mcpToolPrefix, normalizeName } from '../protocol/tool-name.ts';
import type { Origin, Pool, PooledTool, PoolInput } from './pool.ts';
import { pooled, type ToolMarks } from './pooled-tool.ts';
import {
  type Candidate,
  compareNames,
  compareUnits,
  MIN_NAME_LIMIT,
  type Offer,
  sortKey,
  uniqueNames,
} from './unique-names.ts';

/** Merges all tools into one pool of unique names; the same input gives the same bytes. */
export function assemble(input: PoolInput): Pool {
  return new Assembler().assemble(input);
}

/**
 * Assembles pools one after the other and reuses the parts that did not change. Lists are compared by their items'
 * identity, so that a tool that is changed in place is not noticed.
 */
export class Assembler {
  #groups: ReadonlyMap<string | undefined, Group> = new Map();
  #made: { readonly offers: readonly Offer[]; readonly limit: number; readonly pool: Pool } | undefined;

  /** Returns the previous pool object if nothing in it changed. */
  assemble(input: PoolInput): Pool {
    const limit = input.maxNameLength;
    if (limit < MIN_NAME_LIMIT) {
      throw new RangeError(`maxNameLength must be at least ${MIN_NAME_LIMIT}, but is ${limit}`);
    }
    const groups = new Map<string | undefined, Group>([
      [undefined, groupOf(undefined, input.builtIns, input, this.#groups.get(undefined))],
    ]);
    for (const [server, tools] of [...input.servers].sort(([a], [b]) => compareUnits(a, b))) {
      groups.set(server, groupOf(server, tools, input, this.#groups.get(server)));
    }
    this.#groups = groups;
    const offers = Array.from(groups.values(), ({ offer }) => offer);
    if (this.#made?.limit !== limit || !isSameList(this.#made.offers, offers)) {
      this.#made = { offers, limit, pool: merge(offers, limit) };
    }
    return this.#made.pool;
  }
}

/** The tools of one origin and the candidates made from them, kept for the next pool. */
type Group = {
  readonly tools: readonly ListedTool[];
  readonly options: ToolMarks;
  /** One for each tool, denied tools included. */
  readonly candidates: readonly Candidate[];
  readonly hasRules: boolean;
  readonly rulesKey: unknown;
  readonly offer: Offer;
};

function groupOf(
  server: string | undefined,
  tools: readonly ListedTool[],
  input: PoolInput,
  before: Group | undefined,
): Group {
  const { isDenied, rulesKey, marks = false, alwaysLoadServers } = input;
  const hasRules = isDenied !== undefined;
  const options = { marks, alwaysLoad: server !== undefined && alwaysLoadServers?.has(server) === true };
  const isSame = before && isSameList(before.tools, tools) && hasSameMarks(before.options, options);
  const hasSameRules =
    before?.hasRules === hasRules && (!hasRules || (rulesKey !== undefined && before.rulesKey === rulesKey));
  if (isSame && hasSameRules) return before;
  const lister = server === undefined ? ({ kind: 'builtin' } as const) : ({ kind: 'mcp', server } as const);
  const all = isSame ? before.candidates : candidates(lister, tools, options);
  const left = isDenied ? all.filter(({ name, tool }) => !isDenied(name, tool.origin)) : all;
  const offer =
    isSame && isSameList(before.offer.candidates, left) ? before.offer : { server, candidates: left };
  return { tools, options, candidates: all, hasRules, rulesKey, offer };
}

function hasSameMarks(a: ToolMarks, b: ToolMarks): boolean {
  return a.marks === b.marks && a.alwaysLoad === b.alwaysLoad;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}

/** The origin of a list of tools: a server by its key, or the built-in table. */
type Lister = { readonly kind: 'builtin' } | { readonly kind: 'mcp'; readonly server: string };

/** The tools of one origin, sorted by pool name, then by the name that the origin uses. */
function candidates(lister: Lister, tools: readonly ListedTool[], options: ToolMarks): Candidate[] {
  const prefix = lister.kind === 'mcp' ? mcpToolPrefix(lister.server) : '';
  const prefixKey = sortKey(prefix);
  const found = tools.map((listed): Candidate => {
    const own = normalizeName(listed.name);
    const name = prefix + own;
    const tool = pooled(name, originOf(lister, listed.name), listed, options);
    return { name, sortKey: prefixKey + sortKey(own), tool, first: undefined };
  });
  found.sort((a, b) => compareNames(a, b) || compareUnits(ownName(a), ownName(b)));
  return withRepeats(found);
}

/** Marks tools that their origin lists more than once. */
function withRepeats(sorted: readonly Candidate[]): Candidate[] {
  let first: Candidate | undefined;
  return sorted.map((it) => {
    if (first && ownName(first) === ownName(it)) return { ...it, first: first.tool };
    first = it;
    return it;
  });
}

function ownName({ tool }: Candidate): string {
  return tool.listed.name;
}

function originOf(lister: Lister, tool: string): Origin {
  return lister.kind === 'mcp' ? { kind: 'mcp', server: lister.server, tool } : { kind: 'builtin', tool };
}

/** The pool of all offers, the built-ins first, under unique names. */
function merge(offers: readonly Offer[], limit: number): Pool {
  const { byName, lists, diagnostics } = uniqueNames(offers, limit);
  const [builtIns = [], ...ofServers] = lists;
  const tools = [...builtIns.map(({ tool }) => tool), ...joinSorted(ofServers)];
  let byServer: Pool['byServer'] | undefined;
  return {
    tools,
    byName,
    get byServer() {
      byServer ??= indexByServer(offers, tools);
      return byServer;
    },
    cacheAfter: builtIns.length - 1,
    diagnostics,
  };
}

/** The tools of sorted lists in one order. Lists of servers rarely overlap, so that comparing their ends is enough. */
function joinSorted(lists: readonly (readonly Candidate[])[]): PooledTool[] {
  const ordered = lists
    .filter((list) => list.length > 0)
    .sort((a, b) => compareNames(a[0] as Candidate, b[0] as Candidate));
  const isApart = ordered.every((list, at) => {
    const last = ordered[at - 1]?.at(-1);
    return last === undefined || compareNames(last, list[0] as Candidate) <= 0;
  });
  const all = ordered.flat();
  if (!isApart) all.sort(compareNames);
  return all.map(({ tool }) => tool);
}

function indexByServer(offers: readonly Offer[], tools: readonly PooledTool[]): Pool['byServer'] {
  const index = new Map<string, Map<string, PooledTool>>();
  for (const { server } of offers) if (server !== undefined) index.set(server, new Map());
  for (const tool of tools) {
    if (tool.origin.kind === 'mcp') index.get(tool.origin.server)?.set(tool.origin.tool, tool);
  }
  return index;
}
