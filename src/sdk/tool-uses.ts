import { isRecord } from '../base/is-record.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { OnToolUse } from './callbacks.ts';

type Started = { name: string; input: unknown; parent: string | null };

/** Follows the conversation and pairs every tool use with its result, whatever kind of server ran it (R59). */
export class ToolUses {
  readonly #started = new Map<string, Started>();
  readonly #onToolUse: OnToolUse;

  constructor(onToolUse: OnToolUse) {
    this.#onToolUse = onToolUse;
  }

  note(message: Frame): void {
    if (message.type !== 'assistant' && message.type !== 'user') return;
    const content = isRecord(message.message) ? message.message.content : undefined;
    if (!Array.isArray(content)) return;
    const parent = typeof message.parent_tool_use_id === 'string' ? message.parent_tool_use_id : null;
    for (const block of content) {
      if (!isRecord(block)) continue;
      if (block.type === 'tool_use') {
        this.#started.set(String(block.id), { name: String(block.name), input: block.input, parent });
      } else if (block.type === 'tool_result') {
        this.#finish(String(block.tool_use_id), block);
      }
    }
  }

  #finish(toolUseId: string, block: Frame): void {
    const started = this.#started.get(toolUseId);
    if (!started) return;
    this.#started.delete(toolUseId);
    this.#onToolUse({
      toolUseId,
      name: started.name,
      input: started.input,
      result: block.content,
      isError: block.is_error === true,
      parentToolUseId: started.parent,
    });
  }
}
