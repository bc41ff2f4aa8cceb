import type { ListedTool } from '../protocol/mcp.ts';
import { mcpToolPrefix, normalizeName } from '../protocol/tool-name.ts';
import { aliasOf, SHORTEST_LIMIT } from './alias.ts';
import type { Origin, Pool, PoolDiagnostic, PooledTool, PoolInput } from './pool.ts';
import { aliased, pooled, type ToolMarks } from './pooled-tool.ts';

/** Merges all tools into one pool of unique names; the same input gives the same bytes. */
export function assemble(input: PoolInput): Pool {
  return new Assembler().assemble(input);
}

/**
 * Gives what `assemble` gives, and does again only what has changed since it was last asked. Lists are told apart by
 * identity: whoever changes one in place is not noticed.
 */
export class Assembler {
  #groups: ReadonlyMap<string | undefined, Group> = new Map();
  #made: { readonly offers: readonly Offer[]; readonly limit: number; readonly pool: Pool } | undefined;

  /** The very pool of the time before, if nothing in it would differ. */
  assemble(input: PoolInput): Pool {
    const limit = input.maxNameLength;
    if (limit < SHORTEST_LIMIT) {
      throw new RangeError(`maxNameLength is ${limit}; names of tools need ${SHORTEST_LIMIT} characters`);
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

/** The tools of one origin, and what was made of them. */
type Group = {
  readonly tools: readonly ListedTool[];
  readonly telling: ToolMarks;
  /** All of them, also those that are denied. */
  readonly candidates: readonly Candidate[];
  readonly isJudged: boolean;
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
  const isJudged = isDenied !== undefined;
  const options = { marks, alwaysLoad: server !== undefined && alwaysLoadServers?.has(server) === true };
  const isSame = before && isSameList(before.tools, tools) && isSameTelling(before.telling, options);
  const isJudgedAlike =
    before?.isJudged === isJudged && (!isJudged || (rulesKey !== undefined && before.rulesKey === rulesKey));
  if (isSame && isJudgedAlike) return before;
  const lister = server === undefined ? ({ kind: 'builtin' } as const) : ({ kind: 'mcp', server } as const);
  const all = isSame ? before.candidates : candidates(lister, tools, options);
  const left = isDenied ? all.filter(({ name, tool }) => !isDenied(name, tool.origin)) : all;
  const offer =
    isSame && isSameList(before.offer.candidates, left) ? before.offer : { server, candidates: left };
  return { tools, telling: options, candidates: all, isJudged, rulesKey, offer };
}

function isSameTelling(a: ToolMarks, b: ToolMarks): boolean {
  return a.marks === b.marks && a.alwaysLoad === b.alwaysLoad;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}

/** A tool and the name it would like. */
type Candidate = {
  readonly name: string;
  readonly sortKey: string;
  readonly tool: PooledTool;
  /** The one its origin has listed by that name before; it knows both by one name, so there is one tool to call. */
  readonly first: PooledTool | undefined;
};

/** The origin of a list of tools: a server by its key, or the built-in table. */
type Lister = { readonly kind: 'builtin' } | { readonly kind: 'mcp'; readonly server: string };

/** The tools of one origin in the order of their names; of two that want one name, the first by its own name comes first. */
function candidates(lister: Lister, tools: readonly ListedTool[], options: ToolMarks): Candidate[] {
  const prefix = lister.kind === 'mcp' ? mcpToolPrefix(lister.server) : '';
  const prefixWeight = sortKey(prefix);
  const found = tools.map((listed): Candidate => {
    const own = normalizeName(listed.name);
    const name = prefix + own;
    const tool = pooled(name, originOf(lister, listed.name), listed, options);
    return { name, sortKey: prefixWeight + sortKey(own), tool, first: undefined };
  });
  found.sort((a, b) => compareNames(a, b) || compareUnits(ownName(a), ownName(b)));
  return withRepeats(found);
}

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

/** What one origin offers, in the order of names; `server` is undefined for built-ins. */
type Offer = { readonly server: string | undefined; readonly candidates: readonly Candidate[] };

/** Gives each tool a name of its own: the first to want one has it, those after get an alias. */
function merge(offers: readonly Offer[], limit: number): Pool {
  const byName = new Map<string, PooledTool>();
  const builtIns: Candidate[] = [];
  const ofServers: Candidate[] = [];
  const repeats: Candidate[] = [];
  // Natural names are all given before any alias, so that an alias never takes one.
  const unnamed: { candidate: Candidate; part: Candidate[]; fault: PoolDiagnostic['fault'] }[] = [];
  for (const { server, candidates } of offers) {
    const part = server === undefined ? builtIns : ofServers;
    for (const candidate of candidates) {
      const { name, tool, first } = candidate;
      const fault = faultOf(name, limit, byName);
      if (first !== undefined) repeats.push(candidate);
      else if (fault !== undefined) unnamed.push({ candidate, part, fault });
      else {
        byName.set(name, tool);
        part.push(candidate);
      }
    }
  }
  const diagnostics: PoolDiagnostic[] = [];
  const aliases = new Map<PooledTool, string>();
  for (const { candidate, part, fault } of unnamed) {
    const { name: wanted, tool } = candidate;
    const { origin } = tool;
    const name = aliasOf(wanted, origin, limit, byName);
    const renamed = aliased(tool, name);
    byName.set(name, renamed);
    part.push({ ...candidate, name, sortKey: sortKey(name), tool: renamed });
    aliases.set(tool, name);
    diagnostics.push({ fault, origin, wanted, name });
  }
  for (const { name: wanted, tool, first = tool } of repeats) {
    const name = aliases.get(first) ?? wanted;
    diagnostics.push({ fault: 'listed-twice', origin: tool.origin, wanted, name });
  }
  const tools = builtIns
    .sort(compareNames)
    .concat(ofServers.sort(compareNames))
    .map(({ tool }) => tool);
  let byServer: Pool['byServer'] | undefined;
  return {
    tools,
    byName,
    // Few ask for it.
    get byServer() {
      byServer ??= indexByServer(offers, tools);
      return byServer;
    },
    cacheAfter: builtIns.length - 1,
    diagnostics,
  };
}

function faultOf(
  name: string,
  limit: number,
  taken: ReadonlyMap<string, unknown>,
): PoolDiagnostic['fault'] | undefined {
  if (name === '') return 'name-empty';
  if (name.length > limit) return 'name-too-long';
  return taken.has(name) ? 'name-taken' : undefined;
}

function indexByServer(offers: readonly Offer[], tools: readonly PooledTool[]): Pool['byServer'] {
  const index = new Map<string, Map<string, PooledTool>>();
  for (const { server } of offers) if (server !== undefined) index.set(server, new Map());
  for (const tool of tools) {
    if (tool.origin.kind === 'mcp') index.get(tool.origin.server)?.set(tool.origin.tool, tool);
  }
  return index;
}
/** The order of names within a pool: as English collation puts ASCII names, whatever the machine's locale is. */
function compareNames(a: Sortable, b: Sortable): number {
  return compareUnits(a.sortKey, b.sortKey) || compareUnits(b.name, a.name);
}

/** A name and what it weighs, so that it is weighed once and not at every comparison. */
type Sortable = { readonly name: string; readonly sortKey: string };

/** The order of UTF-16 units: total, and the same everywhere. */
export function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a name is ordered by, sign for sign: both marks come before digits, digits before letters; case decides last. */
function sortKey(name: string): string {
  // Only the underscore is not where it belongs among ASCII.
  return name.toLowerCase().replace(/_/g, ' ');
}
