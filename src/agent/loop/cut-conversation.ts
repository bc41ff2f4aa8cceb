import { pluralize } from '../../base/text/display-text.ts';
import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { blockTokens, estimateTokens, messageTokens } from './context-usage.ts';

/** A conversation in two parts. A `tool_use` and its `tool_result` are always in the same part. */
export type CutConversation = {
  /** The older part, to be summarized; empty if only results had to be shortened. */
  readonly head: readonly ModelMessage[];
  /** The user's prompt at the start of the kept part, verbatim. */
  readonly prompt: readonly UserBlock[];
  /** The messages after that prompt. */
  readonly rest: readonly ModelMessage[];
  /** How many messages are dropped entirely. */
  readonly droppedCount: number;
};

/**
 * Keeps as many whole turns from the end as fit. If not even the last turn fits, its results are shortened; if that is not
 * enough, its older rounds go to the head, and its prompt and newest rounds stay. Undefined if everything fits.
 */
export function cutConversation(
  messages: readonly ModelMessage[],
  keepTokens: number,
): CutConversation | undefined {
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
    // Without the older rounds, the newest results may fit unshortened.
    rest: shortenResults(rounds.slice(from), room),
    droppedCount: last + from,
  };
}

function cutBefore(
  messages: readonly ModelMessage[],
  at: number,
  rest: readonly ModelMessage[],
): CutConversation {
  const message = messages[at] as ModelMessage;
  // Nothing is dropped, so an earlier summary stays too.
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

/** Where the kept rounds begin: at the first reply from which everything fits, else at the last reply. */
function firstRound(rounds: readonly ModelMessage[], room: number): number {
  const tokens = tokensFrom(rounds);
  const found = rounds.findIndex(({ role }, at) => role === 'assistant' && (tokens[at] as number) <= room);
  return found === -1 ? rounds.findLastIndex(({ role }) => role === 'assistant') : found;
}

/** For each message, the tokens of it and all later ones. */
function tokensFrom(messages: readonly ModelMessage[]): number[] {
  let sum = 0;
  return messages
    .toReversed()
    .map((message) => (sum += messageTokens(message)))
    .reverse();
}

/**
 * The user's prompt in a message: without results and without the summary of a compaction. Texts in tags beside results
 * were added by the host.
 */
function promptOf(messages: readonly ModelMessage[], at: number): UserBlock[] {
  const message = messages[at];
  if (message?.role !== 'user') return [];
  const blocks = message.content.filter(({ type }) => type !== 'tool_result');
  if (blocks.length < message.content.length && blocks.every(isAdded)) return [];
  return at === 0 && earlierSummary(messages) !== undefined ? blocks.slice(1) : blocks;
}

function isAdded(block: UserBlock): boolean {
  return block.type === 'text' && block.text.startsWith('<');
}

const OPEN = '<conversation-summary>';
const CLOSE = '</conversation-summary>';
const ABOUT = 'The conversation up to here was compacted. This is a record of it:';

/** The block that replaces the older part of a conversation. */
export function summaryBlock(summary: string): UserBlock {
  return { type: 'text', text: `${OPEN}\n${ABOUT}\n\n${summary}\n${CLOSE}` };
}

/** The summary that an earlier compaction put at the start. */
export function earlierSummary(messages: readonly ModelMessage[]): string | undefined {
  const block = messages[0]?.content[0];
  return block && isSummary(block) ? block.text.slice(summaryStart, -CLOSE.length - 1) : undefined;
}

/** The text in place of a summary that could not be made; it contains an earlier summary. */
export function droppedNote(count: number, earlier: string | undefined): string {
  const note = `${pluralize(count, 'older message')} omitted to fit the context window, because summarizing failed.`;
  return earlier === undefined ? note : `${earlier}\n\nAfter that, ${note}`;
}

const summaryStart = `${OPEN}\n${ABOUT}\n\n`.length;

function isSummary(block: ModelBlock | UserBlock): block is Extract<UserBlock, { type: 'text' }> {
  return (
    block.type === 'text' && block.text.startsWith(`${OPEN}\n${ABOUT}\n\n`) && block.text.endsWith(CLOSE)
  );
}

type ToolResult = Extract<UserBlock, { type: 'tool_result' }>;

/** How many characters of a shortened result are kept at each end. */
const EDGE_LENGTH = 800;

/** Shortens tool results, the oldest first, until the messages fit. Texts of the user and the model are unchanged. */
export function shortenResults(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  let tokens = estimateTokens({ messages });
  return messages.map((message) => {
    if (tokens <= room || message.role !== 'user') return message;
    const shorter = { ...message, content: message.content.map(shorterBlock) };
    tokens += estimateTokens({ messages: [shorter] }) - estimateTokens({ messages: [message] });
    return shorter;
  });
}

/** Replaces the middle of a long text by a note about its length. */
export function shortenText(text: string, edge: number): string {
  const left = text.length - 2 * edge;
  if (left <= edge / 2) return text;
  // A cut may split a surrogate pair, which model APIs reject.
  const start = text.slice(0, edge).toWellFormed();
  const end = text.slice(-edge).toWellFormed();
  return `${start}\n[… ${left} characters omitted to save context …]\n${end}`;
}

function shorterBlock(block: UserBlock): UserBlock {
  if (block.type !== 'tool_result' || block.content === undefined) return block;
  return { ...block, content: shorterContent(block.content) };
}

function shorterContent(content: NonNullable<ToolResult['content']>): NonNullable<ToolResult['content']> {
  if (typeof content === 'string') return shortenText(content, EDGE_LENGTH);
  return content.map((part) =>
    part.type === 'text'
      ? { ...part, text: shortenText(part.text, EDGE_LENGTH) }
      : { type: 'text', text: `[${part.type} omitted to save context]` },
  );
}
