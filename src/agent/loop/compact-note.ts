import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';

const OPEN = '<conversation-summary>';
const CLOSE = '</conversation-summary>';
const ABOUT = 'The conversation up to here was compacted. This is a record of it:';

/** The block that stands in the place of the older part of a conversation. */
export function summaryBlock(summary: string): UserBlock {
  return { type: 'text', text: `${OPEN}\n${ABOUT}\n\n${summary}\n${CLOSE}` };
}

/** The summary that an earlier compaction put at the start, which is no one's prompt. */
export function earlierSummary(messages: readonly ModelMessage[]): string | undefined {
  const block = messages[0]?.content[0];
  return block && isSummary(block) ? block.text.slice(summaryStart, -CLOSE.length - 1) : undefined;
}

/** What takes the place of a summary that could not be made; an earlier one is carried on. */
export function droppedNote(count: number, earlier: string | undefined): string {
  const note = `${count} older messages were left out to make room, and no summary of them could be made.`;
  return earlier === undefined ? note : `${earlier}\n\nAfter that, ${note}`;
}

const summaryStart = `${OPEN}\n${ABOUT}\n\n`.length;

function isSummary(block: ModelBlock | UserBlock): block is Extract<UserBlock, { type: 'text' }> {
  return (
    block.type === 'text' && block.text.startsWith(`${OPEN}\n${ABOUT}\n\n`) && block.text.endsWith(CLOSE)
  );
}
