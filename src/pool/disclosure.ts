import type { Pool, PooledTool } from './pool.ts';
import { tokenCost } from './token-cost.ts';

/** Which tools of a pool are sent to the model, and which are deferred to a search. */
export type Disclosure = {
  /** Built-ins and servers' tools in the order of the pool, then tools that a search loaded, the latest last. */
  readonly disclosed: readonly PooledTool[];
  /** Deferred tools of servers. Loaded ones stay in this list, so that a search does not change the system prompt. */
  readonly searchable: readonly PooledTool[];
};

/** What was disclosed before, by name: disclosed tools stay disclosed. */
type Disclosed = {
  readonly names: ReadonlySet<string>;
  /** Tools that searches loaded, in that order. */
  readonly loaded: ReadonlySet<string>;
};

/**
 * Minimum allowance in tokens for `alwaysLoad` tools when tools are deferred; a larger budget for all tools raises the
 * allowance. The limit prevents that a server fills the context window with such tools.
 */
const ALLOWANCE_TOKENS = 20_000;

/**
 * Discloses all tools if the definitions of servers' tools fit the budget. Otherwise tools that were not disclosed before
 * are deferred, except `alwaysLoad` tools that fit the allowance.
 */
export function disclose(pool: Pool, budgetTokens: number, disclosed: Disclosed): Disclosure {
  if (budgetTokens === Infinity) return { disclosed: pool.tools, searchable: [] };
  const ofServers = pool.tools.filter(({ origin }) => origin.kind === 'mcp');
  if (fitsBudget(ofServers, budgetTokens)) return { disclosed: pool.tools, searchable: [] };
  const kept = keptTools(ofServers, Math.max(budgetTokens, ALLOWANCE_TOKENS), disclosed.names);
  const isDisclosed = (tool: PooledTool) => tool.origin.kind === 'builtin' || kept.has(tool);
  const loaded = [...disclosed.loaded].flatMap((name) => {
    const tool = pool.byName.get(name);
    return tool && !isDisclosed(tool) ? [tool] : [];
  });
  return {
    disclosed: [...pool.tools.filter(isDisclosed), ...loaded],
    searchable: ofServers.filter((tool) => !kept.has(tool)),
  };
}

/** Disclosed tools stay unless one alone exceeds the allowance; `alwaysLoad` tools are added while there is room. */
function keptTools(
  tools: readonly PooledTool[],
  allowance: number,
  names: ReadonlySet<string>,
): Set<PooledTool> {
  const kept = new Set<PooledTool>();
  let left = allowance;
  for (const tool of tools) {
    if (names.has(tool.name)) {
      if (tokenCost(tool) <= allowance) kept.add(tool);
    } else if (tool.alwaysLoad && left > 0) {
      left -= tokenCost(tool);
      if (left >= 0) kept.add(tool);
    }
  }
  return kept;
}

/** Stops estimating as soon as the budget is exceeded. */
function fitsBudget(tools: readonly PooledTool[], budgetTokens: number): boolean {
  let left = budgetTokens;
  return tools.every((tool) => {
    left -= tokenCost(tool);
    return left >= 0;
  });
}

/** Above this length, tools per server are counted instead of named. */
const MAX_NAMES_LENGTH = 8_000;

/** The section of the system prompt about deferred tools; it depends only on the tools that servers offer. */
export function describeDeferred(searchable: readonly PooledTool[]): string {
  if (searchable.length === 0) return '';
  const names = searchable.map(({ name }) => name).join(', ');
  const disclosed = names.length <= MAX_NAMES_LENGTH ? names : countsOf(searchable);
  return [
    '# Tools you can search for',
    'Servers offer more tools than you received. ToolSearch finds them by what they do and loads them; a tool whose name you know can also be called directly.',
    disclosed,
  ].join('\n');
}

function countsOf(tools: readonly PooledTool[]): string {
  const counts = new Map<string, number>();
  for (const { origin } of tools) {
    if (origin.kind === 'mcp') counts.set(origin.server, (counts.get(origin.server) ?? 0) + 1);
  }
  return `By server: ${[...counts].map(([server, count]) => `${server} (${count})`).join(', ')}.`;
}

/** When servers' tools are deferred: always, never, or above a share of the context window or a number of tokens. */
export type ToolSearchSetting = 'on' | 'off' | { readonly percent: number } | { readonly tokens: number };

/** The default share of the context window for definitions of servers' tools. */
const PERCENT = 10;

/** The budget in tokens for definitions of servers' tools. */
export function toolBudget(setting: ToolSearchSetting = { percent: PERCENT }, contextTokens: number): number {
  if (setting === 'on') return 0;
  if (setting === 'off') return Infinity;
  return 'tokens' in setting ? setting.tokens : Math.floor((contextTokens * setting.percent) / 100);
}

export const TOOL_SEARCH_VALUES = 'on, off, auto, auto:<percent of the context window> or a number of tokens';

/** Parses the value of the flag or variable; undefined if it is none of `TOOL_SEARCH_VALUES`. */
export function parseToolSearch(text: string): ToolSearchSetting | undefined {
  const word = text.trim().toLowerCase();
  if (word === 'on' || word === 'true') return 'on';
  if (word === 'off' || word === 'false') return 'off';
  if (word === 'auto') return { percent: PERCENT };
  const percent = /^auto:(\d{1,3})$/.exec(word)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { percent: Number(percent) } : undefined;
  return /^\d{1,9}$/.test(word) ? { tokens: Number(word) } : undefined;
}
