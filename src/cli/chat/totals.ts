import type { SDKResultMessage } from '../../protocol/agent-message.ts';

/** What the conversation has used so far. */
export type Totals = {
  readonly prompts: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** As the agent counts it; agents that do not know prices say 0. */
  readonly usd: number;
};

export const NOTHING_USED: Totals = {
  prompts: 0,
  turns: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  usd: 0,
};

/** Tokens are told for each turn, money for the conversation so far. */
export function addResult(totals: Totals, result: SDKResultMessage): Totals {
  const { usage } = result;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    prompts: totals.prompts + 1,
    turns: totals.turns + result.num_turns,
    inputTokens: totals.inputTokens + usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    cachedTokens: totals.cachedTokens + cached,
    outputTokens: totals.outputTokens + usage.output_tokens,
    usd: Math.max(totals.usd, result.total_cost_usd),
  };
}
