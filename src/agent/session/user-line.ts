import { isRecord } from '../../base/is-record.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** A message of the user, as it waits for its turn. */
export type UserLine = {
  readonly content: readonly UserBlock[];
  readonly uuid: string | undefined;
  /** Whether it wants an answer; one that does not is only remembered. */
  readonly wantsTurn: boolean;
};

/** Reads a frame that carries a user's message; undefined for any other. Blocks a model could not read are left out. */
export function readUserLine(frame: Frame): UserLine | undefined {
  if (frame.type !== 'user') return undefined;
  const given: unknown = isRecord(frame.message) ? frame.message.content : undefined;
  const blocks: unknown[] = typeof given === 'string' ? [{ type: 'text', text: given }] : list(given);
  return {
    content: blocks.filter(isUserBlock),
    uuid: typeof frame.uuid === 'string' ? frame.uuid : undefined,
    wantsTurn: frame.shouldQuery !== false,
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Models refuse texts without anything in them, and all that comes after in the same conversation. */
function isUserBlock(value: unknown): value is UserBlock {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case 'text':
      return typeof value.text === 'string' && value.text.trim() !== '';
    case 'image':
    case 'document':
      return isRecord(value.source);
    case 'tool_result':
      return typeof value.tool_use_id === 'string';
    default:
      return false;
  }
}
