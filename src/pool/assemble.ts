import type { ListedTool } from '../protocol/mcp.ts';
import { SHORTEST_LIMIT } from './alias.ts';
import { type Candidate, candidates } from './candidates.ts';
import { merge, type Offer } from './merge.ts';
import { compareUnits } from './order.ts';
import type { Pool, PoolInput } from './pool.ts';
import type { Telling } from './pooled.ts';

export type { Origin, Pool, PoolDiagnostic, PooledTool, PoolInput } from './pool.ts';

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
  readonly telling: Telling;
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
  const telling = { marks, alwaysLoad: server !== undefined && alwaysLoadServers?.has(server) === true };
  const isSame = before && isSameList(before.tools, tools) && isSameTelling(before.telling, telling);
  const isJudgedAlike =
    before?.isJudged === isJudged && (!isJudged || (rulesKey !== undefined && before.rulesKey === rulesKey));
  if (isSame && isJudgedAlike) return before;
  const lister = server === undefined ? ({ kind: 'builtin' } as const) : ({ kind: 'mcp', server } as const);
  const all = isSame ? before.candidates : candidates(lister, tools, telling);
  const left = isDenied ? all.filter(({ name, tool }) => !isDenied(name, tool.origin)) : all;
  const offer =
    isSame && isSameList(before.offer.candidates, left) ? before.offer : { server, candidates: left };
  return { tools, telling, candidates: all, isJudged, rulesKey, offer };
}

function isSameTelling(a: Telling, b: Telling): boolean {
  return a.marks === b.marks && a.alwaysLoad === b.alwaysLoad;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}
