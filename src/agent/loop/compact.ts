import type { Usage } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { estimateTokens } from './context-usage.ts';
import { type Cut, cut, droppedNote, earlierSummary, joinTurns, summaryBlock } from './cut-conversation.ts';
import { type SummaryOptions, summarize } from './summarize.ts';

export type CompactOptions = SummaryOptions & {
  /** How much of the end stays as it is, in tokens; by default a part of the window and of what there is. */
  readonly keepTokens?: number;
};

/**
 * A conversation after compaction.
 * - `summarized`: a summary stands for the older part;
 * - `dropped`: the model made no summary (`fault` says why), a note stands for the older part;
 * - `shortened`: there was no older part, only results were shortened;
 * - `unchanged`: it could not be made smaller; `messages` are those that were given.
 */
export type Compacted = {
  readonly how: 'summarized' | 'dropped' | 'shortened' | 'unchanged';
  readonly messages: readonly ModelMessage[];
  /** What stands for the older part, without its frame; empty if nothing does. */
  readonly summary: string;
  readonly droppedCount: number;
  /** Estimates of the messages alone. */
  readonly preTokens: number;
  readonly postTokens: number;
  /** What asking for the summary took. */
  readonly usage: Usage;
  readonly fault?: string;
};

const MOST_KEPT = 20_000;

/**
 * Replaces the older part of a conversation by a summary that the model makes. What is kept begins with a prompt; the
 * last prompt is always kept, word for word. The result is smaller or `unchanged`. Rejects only with the signal's reason.
 */
export async function compact(
  messages: readonly ModelMessage[],
  options: CompactOptions,
): Promise<Compacted> {
  const preTokens = estimateTokens({ messages });
  const parts = cut(joinTurns(messages), options.keepTokens ?? defaultKeep(preTokens, options));
  if (!parts) return unchanged(messages, preTokens);
  if (parts.head.length === 0) return smaller('shortened', parts, '') ?? unchanged(messages, preTokens);
  const made = await summarize(parts.head, options);
  const { usage } = made;
  if ('text' in made) {
    const summarized = smaller('summarized', parts, made.text);
    if (summarized) return { ...summarized, usage };
    // What is shorter than its summary is better kept than dropped.
    const fault = 'the summary is longer than what it would stand for';
    return { ...unchanged(messages, preTokens), usage, fault };
  }
  const note = droppedNote(parts.droppedCount, earlierSummary(messages));
  return {
    ...(smaller('dropped', parts, note) ?? unchanged(messages, preTokens)),
    usage,
    fault: made.fault,
  };

  function smaller(how: Compacted['how'], kept: Cut, summary: string): Compacted | undefined {
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

function assemble({ prompt, rest }: Cut, summary: string): ModelMessage[] {
  const start = summary === '' ? [] : [summaryBlock(summary)];
  return [{ role: 'user', content: [...start, ...prompt] }, ...rest];
}

/** A third of what there is at most, so that asking for compaction always means something. */
function defaultKeep(tokens: number, { model }: CompactOptions): number {
  return Math.floor(Math.min(MOST_KEPT, model.limits.contextTokens / 5, tokens / 3));
}
