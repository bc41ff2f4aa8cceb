import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import { shortenText } from './compact-shorten.ts';
import { textTokens } from './estimate-tokens.ts';

/** Characters of each end that are worth reading in order to sum a conversation up. */
const EDGE_OF_TEXT = 4_000;
const EDGE_OF_DATA = 1_000;

/**
 * A conversation as text of about so many tokens at most, for a model to read and not to continue. If it is longer, the
 * first message stays, since it says what all is about, and the newest ones.
 */
export function renderMessages(messages: readonly ModelMessage[], room: number): string {
  const [first, ...others] = messages.map(renderMessage);
  if (first === undefined) return '';
  const start = shortenText(first, room);
  let left = room - textTokens(start);
  const kept: string[] = [];
  for (const text of others.toReversed()) {
    left -= textTokens(text);
    if (left < 0) break;
    kept.unshift(text);
  }
  const missing = others.length - kept.length;
  return [start, ...(missing > 0 ? [`[${missing} messages left out]`] : []), ...kept].join('\n\n');
}

function renderMessage({ role, content }: ModelMessage): string {
  const parts = content.map(renderBlock).filter((part) => part !== '');
  return `${role === 'user' ? 'User' : 'Assistant'}:\n${parts.join('\n')}`;
}

function renderBlock(block: ModelBlock | UserBlock): string {
  switch (block.type) {
    case 'text':
      return shortenText(block.text, EDGE_OF_TEXT);
    case 'tool_use':
      return `[calls ${block.name} ${shortenText(JSON.stringify(block.input) ?? '', EDGE_OF_DATA)}]`;
    case 'tool_result':
      return `[${block.is_error ? 'the call failed' : 'result'}: ${shortenText(contentText(block.content), EDGE_OF_DATA)}]`;
    case 'thinking':
    case 'redacted_thinking':
      return '';
    default:
      return `[${block.type}]`;
  }
}

function contentText(content: string | UserBlock[] = ''): string {
  return typeof content === 'string' ? content : content.map(renderBlock).join('\n');
}
