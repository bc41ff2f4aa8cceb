import type { UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { earlierSummary } from './compact-note.ts';
import { shortenResults } from './compact-shorten.ts';
import { blockTokens, messageTokens } from './estimate-tokens.ts';

/** A conversation in two parts. No tool use is parted from its result. */
export type Cut = {
  /** To be told in short; empty if only results had to be shortened. */
  readonly head: readonly ModelMessage[];
  /** What the person said at the start of the kept part, verbatim. */
  readonly prompt: readonly UserBlock[];
  /** What follows the prompt: nothing, or a reply and so on. */
  readonly rest: readonly ModelMessage[];
  /** Messages of which nothing is kept. */
  readonly droppedCount: number;
};

/**
 * Keeps as many whole turns from the end as fit. If not even the last one does, its results are shortened; if that is
 * not enough, its older rounds go to the head, and only the prompt stays. Nothing if all fits.
 */
export function cut(messages: readonly ModelMessage[], keepTokens: number): Cut | undefined {
  const prompts = messages.flatMap((_, at) => (promptOf(messages, at).length > 0 ? [at] : []));
  const tokens = tokensFrom(messages);
  const whole = prompts.find((at) => (tokens[at] as number) <= keepTokens);
  const last = prompts.at(-1);
  if (whole === 0 || last === undefined) return undefined;
  if (whole !== undefined) return cutBefore(messages, whole, messages.slice(whole + 1));
  const rounds = messages.slice(last + 1);
  const room = keepTokens - promptOf(messages, last).reduce((sum, block) => sum + blockTokens(block), 0);
  const shorter = shortenResults(rounds, room);
  const from = firstRound(shorter, room);
  if (from <= 0) return cutBefore(messages, last, shorter);
  return {
    head: messages.slice(0, last + 1 + from),
    prompt: promptOf(messages, last),
    // With the older rounds gone, the newest results may fit as they are.
    rest: shortenResults(rounds.slice(from), room),
    droppedCount: last + from,
  };
}

function cutBefore(messages: readonly ModelMessage[], at: number, rest: readonly ModelMessage[]): Cut {
  const message = messages[at] as ModelMessage;
  // Nothing goes, so an earlier summary stays too.
  if (at === 0) return { head: [], prompt: message.content as UserBlock[], rest, droppedCount: 0 };
  const results = (message.content as readonly UserBlock[]).filter(({ type }) => type === 'tool_result');
  const answers: ModelMessage[] = results.length > 0 ? [{ role: 'user', content: results }] : [];
  return {
    head: [...messages.slice(0, at), ...answers],
    prompt: promptOf(messages, at),
    rest,
    droppedCount: at,
  };
}

/** Where the kept rounds begin: at the first reply from which on all fits, or else at the last one. */
function firstRound(rounds: readonly ModelMessage[], room: number): number {
  const tokens = tokensFrom(rounds);
  const found = rounds.findIndex(({ role }, at) => role === 'assistant' && (tokens[at] as number) <= room);
  return found === -1 ? rounds.findLastIndex(({ role }) => role === 'assistant') : found;
}

/** The tokens of each message and all after it. */
function tokensFrom(messages: readonly ModelMessage[]): number[] {
  let sum = 0;
  return messages
    .toReversed()
    .map((message) => (sum += messageTokens(message)))
    .reverse();
}

/**
 * What a person said in a message, without results and without a summary of ours; nothing if nobody did. Beside results,
 * texts in tags are what the host adds to them.
 */
function promptOf(messages: readonly ModelMessage[], at: number): UserBlock[] {
  const message = messages[at];
  if (message?.role !== 'user') return [];
  const said = message.content.filter(({ type }) => type !== 'tool_result');
  if (said.length < message.content.length && said.every(isAdded)) return [];
  return at === 0 && earlierSummary(messages) !== undefined ? said.slice(1) : said;
}

function isAdded(block: UserBlock): boolean {
  return block.type === 'text' && block.text.startsWith('<');
}
