import type { Usage } from '../../protocol/agent-message.ts';
import type { ModelLimits, ModelMessage } from '../models/model.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** How full the room for input may be; the rest is for the next results and for what estimates get wrong. */
const FULL = 0.9;

/** Whether a conversation of so many tokens should be compacted before the next request. */
export function shouldCompact(usedTokens: number, limits: ModelLimits): boolean {
  return usedTokens >= compactThreshold(limits);
}

/** The tokens at which a conversation is compacted: a fraction of the window without what a reply may take. */
export function compactThreshold({ contextTokens, outputTokens }: ModelLimits): number {
  // A model whose reply may fill its window would leave no room for a question.
  const reserve = Math.min(outputTokens, contextTokens / 2);
  return Math.floor((contextTokens - reserve) * FULL);
}

/** The tokens in the window: what the model counted with its last reply, and an estimate of what was added since. */
export function usedTokens(lastUsage: Usage, added: readonly ModelMessage[]): number {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = lastUsage;
  const counted =
    input_tokens + output_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
  return counted + estimateTokens({ messages: added });
}
