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

/**
 * All tools are told while the definitions of servers' tools fit the budget. Above it, those that were not told before
 * have to be searched for, unless they say that they are always loaded.
 */
export function divide(pool: Pool, budgetTokens: number, told: Told): Division {
  if (budgetTokens === Infinity) return { told: pool.tools, searchable: [] };
  const isKept = ({ name, origin, alwaysLoad }: PooledTool) =>
    origin.kind === 'builtin' || alwaysLoad || told.names.has(name);
  const ofServers = pool.tools.filter(({ origin }) => origin.kind === 'mcp');
  if (ofServers.every(isKept) || fits(ofServers, budgetTokens)) {
    return { told: pool.tools, searchable: [] };
  }
  const loaded = [...told.loaded].flatMap((name) => {
    const tool = pool.byName.get(name);
    return tool && !isKept(tool) ? [tool] : [];
  });
  return {
    told: [...pool.tools.filter(isKept), ...loaded],
    searchable: ofServers.filter((tool) => !isKept(tool)),
  };
}

/** Of very many tools only as many are priced as it takes to know. */
function fits(tools: readonly PooledTool[], budgetTokens: number): boolean {
  let left = budgetTokens;
  return tools.every((tool) => {
    left -= priceOf(tool);
    return left >= 0;
  });
}
