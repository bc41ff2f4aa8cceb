/** When servers' tools have to be searched for: always, never, or when their definitions take more than this of the window or in tokens. */
export type ToolSearchSetting = 'on' | 'off' | { readonly percent: number } | { readonly tokens: number };

/** What definitions may take of the window before tools have to be searched for. */
const PERCENT = 10;

/** How many tokens the definitions of servers' tools may take until a model has to search for more. */
export function toolBudget(setting: ToolSearchSetting = { percent: PERCENT }, contextTokens: number): number {
  if (setting === 'on') return 0;
  if (setting === 'off') return Infinity;
  return 'tokens' in setting ? setting.tokens : Math.floor((contextTokens * setting.percent) / 100);
}

export const TOOL_SEARCH_WORDS = 'on, off, auto, auto:<percent of the window> or a number of tokens';

/** Reads what a flag or a variable says; undefined if it is none of `TOOL_SEARCH_WORDS`. */
export function readToolSearch(text: string): ToolSearchSetting | undefined {
  const word = text.trim().toLowerCase();
  if (word === 'on' || word === 'true') return 'on';
  if (word === 'off' || word === 'false') return 'off';
  if (word === 'auto') return { percent: PERCENT };
  const percent = /^auto:(\d{1,3})$/.exec(word)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { percent: Number(percent) } : undefined;
  return /^\d{1,9}$/.test(word) ? { tokens: Number(word) } : undefined;
}
