import type { Pool, PooledTool } from './assemble.ts';
import { priceOf } from './price.ts';

/** What a model is told of a pool at once, and what it has to search for. */
export type Division = {
  /** Built-ins and servers' tools as the pool has them, then those that were searched for, the latest last. */
  readonly told: readonly PooledTool[];
  /** Servers' tools that only a search finds. Those it has loaded stay here too, so that what is said of them all never changes by a search. */
  readonly searchable: readonly PooledTool[];
};

/** What was told before, by name: what a model knows is not taken from it again. */
export type Told = {
  readonly names: ReadonlySet<string>;
  /** What searches found, in the order they found it. */
  readonly loaded: ReadonlySet<string>;
};

/** What tools that ask to be loaded always may take of any budget: a server must not fill the window by asking. */
const ALLOWANCE_TOKENS = 20_000;

/**
 * All tools are told while the definitions of servers' tools fit the budget. Above it, those that were not told before
 * have to be searched for, unless they say that they are always loaded and there is room for that.
 */
export function divide(pool: Pool, budgetTokens: number, told: Told): Division {
  if (budgetTokens === Infinity) return { told: pool.tools, searchable: [] };
  const ofServers = pool.tools.filter(({ origin }) => origin.kind === 'mcp');
  if (fits(ofServers, budgetTokens)) return { told: pool.tools, searchable: [] };
  const kept = keptOf(ofServers, Math.max(budgetTokens, ALLOWANCE_TOKENS), told.names);
  const isTold = (tool: PooledTool) => tool.origin.kind === 'builtin' || kept.has(tool);
  const loaded = [...told.loaded].flatMap((name) => {
    const tool = pool.byName.get(name);
    return tool && !isTold(tool) ? [tool] : [];
  });
  return {
    told: [...pool.tools.filter(isTold), ...loaded],
    searchable: ofServers.filter((tool) => !kept.has(tool)),
  };
}

/** What was told stays, unless it has grown beyond everything; what asks to be loaded is, as far as there is room. */
function keptOf(
  tools: readonly PooledTool[],
  allowance: number,
  names: ReadonlySet<string>,
): Set<PooledTool> {
  const kept = new Set<PooledTool>();
  let left = allowance;
  for (const tool of tools) {
    if (names.has(tool.name)) {
      if (priceOf(tool) <= allowance) kept.add(tool);
    } else if (tool.alwaysLoad && left > 0) {
      left -= priceOf(tool);
      if (left >= 0) kept.add(tool);
    }
  }
  return kept;
}

/** Of very many tools only as many are priced as it takes to know. */
function fits(tools: readonly PooledTool[], budgetTokens: number): boolean {
  let left = budgetTokens;
  return tools.every((tool) => {
    left -= priceOf(tool);
    return left >= 0;
  });
}
