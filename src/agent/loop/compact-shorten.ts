import type { UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { estimateTokens } from './estimate-tokens.ts';

type ToolResult = Extract<UserBlock, { type: 'tool_result' }>;

/** Characters that stay at each end of a result. */
const EDGE = 800;

/** Shortens tool results, the oldest first, until the messages fit; what the person or the model said stays as it is. */
export function shortenResults(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  let tokens = estimateTokens({ messages });
  return messages.map((message) => {
    if (tokens <= room || message.role !== 'user') return message;
    const shorter = { ...message, content: message.content.map(shorterBlock) };
    tokens += estimateTokens({ messages: [shorter] }) - estimateTokens({ messages: [message] });
    return shorter;
  });
}

/** A text with its middle left out, and a note that says how much; a text that is not much longer than that stays. */
export function shortenText(text: string, edge: number): string {
  const left = text.length - 2 * edge;
  if (left <= edge / 2) return text;
  // A cut may part the two halves of one sign, which no endpoint accepts.
  const start = text.slice(0, edge).toWellFormed();
  const end = text.slice(-edge).toWellFormed();
  return `${start}\n[… ${left} characters left out to save room …]\n${end}`;
}

function shorterBlock(block: UserBlock): UserBlock {
  if (block.type !== 'tool_result' || block.content === undefined) return block;
  return { ...block, content: shorterContent(block.content) };
}

function shorterContent(content: NonNullable<ToolResult['content']>): NonNullable<ToolResult['content']> {
  if (typeof content === 'string') return shortenText(content, EDGE);
  return content.map((part) =>
    part.type === 'text'
      ? { ...part, text: shortenText(part.text, EDGE) }
      : { type: 'text', text: `[${part.type} left out to save room]` },
  );
}
