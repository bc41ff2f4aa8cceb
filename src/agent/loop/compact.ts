import type { Usage } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { joinTurns } from '../models/sanitize-request.ts';
import { estimateTokens } from './context-usage.ts';
import {
  type CutConversation,
  cutConversation,
  droppedNote,
  earlierSummary,
  summaryBlock,
} from './cut-conversation.ts';
import { type SummaryOptions, summarize } from './summarize.ts';

export type CompactOptions = SummaryOptions & {
  /** How many tokens at the end stay unchanged; by default a part of the window and of the conversation. */
  readonly keepTokens?: number;
};

/**
 * The result of a compaction.
 * - `summarized`: a summary replaces the older part;
 * - `dropped`: the model made no summary (`fault` is the reason), and a note replaces the older part;
 * - `shortened`: there was no older part, only results were shortened;
 * - `unchanged`: the conversation could not be made smaller.
 */
export type Compacted = {
  readonly how: 'summarized' | 'dropped' | 'shortened' | 'unchanged';
  readonly messages: readonly ModelMessage[];
  /** The summary or note without its tags; empty if there is none. */
  readonly summary: string;
  readonly droppedCount: number;
  /** Estimates of the messages alone. */
  readonly preTokens: number;
  readonly postTokens: number;
  /** The usage of the request for the summary. */
  readonly usage: Usage;
  readonly fault?: string;
};

const MAX_KEPT_TOKENS = 20_000;

/**
 * Replaces the older part of a conversation by a summary that the model makes. The kept part begins with a prompt; the
 * last prompt is always kept verbatim. Rejects only with the signal's reason.
 */
export async function compact(
  messages: readonly ModelMessage[],
  options: CompactOptions,
): Promise<Compacted> {
  const preTokens = estimateTokens({ messages });
  const parts = cutConversation(joinTurns(messages), options.keepTokens ?? defaultKeep(preTokens, options));
  if (!parts) return unchanged(messages, preTokens);
  if (parts.head.length === 0) return smaller('shortened', parts, '') ?? unchanged(messages, preTokens);
  const made = await summarize(parts.head, options);
  const { usage } = made;
  if ('text' in made) {
    const summarized = smaller('summarized', parts, made.text);
    if (summarized) return { ...summarized, usage };
    const fault = 'the summary is longer than the messages it would replace';
    return { ...unchanged(messages, preTokens), usage, fault };
  }
  const note = droppedNote(parts.droppedCount, earlierSummary(messages));
  return {
    ...(smaller('dropped', parts, note) ?? unchanged(messages, preTokens)),
    usage,
    fault: made.fault,
  };

  function smaller(how: Compacted['how'], kept: CutConversation, summary: string): Compacted | undefined {
    const after = assemble(kept, summary);
    const postTokens = estimateTokens({ messages: after });
    if (postTokens >= preTokens) return undefined;
    const { droppedCount } = kept;
    return { how, messages: after, summary, droppedCount, preTokens, postTokens, usage: NO_USAGE };
  }
}

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

function unchanged(messages: readonly ModelMessage[], tokens: number): Compacted {
  return {
    how: 'unchanged',
    messages,
    summary: '',
    droppedCount: 0,
    preTokens: tokens,
    postTokens: tokens,
    usage: NO_USAGE,
  };
}

function assemble({ prompt, rest }: CutConversation, summary: string): ModelMessage[] {
  const start = summary === '' ? [] : [summaryBlock(summary)];
  return [{ role: 'user', content: [...start, ...prompt] }, ...rest];
}

/** The default of `keepTokens`: at most a third of the conversation, so that a compaction always has an effect. */
function defaultKeep(tokens: number, { model }: CompactOptions): number {
  return Math.floor(Math.min(MAX_KEPT_TOKENS, model.limits.contextTokens / 5, tokens / 3));
}
