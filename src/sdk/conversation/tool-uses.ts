import { isRecord } from '../../base/json-value.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { ToolUse } from '../options/options.ts';

type Started = { name: string; input: unknown; parent: string | null };

/** Notified when the model requests a tool and when its result arrives. */
export type ToolUseWatcher = {
  started?(use: Pick<ToolUse, 'toolUseId' | 'name'>): void;
  finished?(use: ToolUse): void;
};

/** Pairs every tool use of the conversation with its result, for all kinds of servers (R59). */
export class ToolUses {
  readonly #started = new Map<string, Started>();
  readonly #watchers: readonly ToolUseWatcher[];

  constructor(watchers: readonly ToolUseWatcher[]) {
    this.#watchers = watchers;
  }

  note(message: Frame): void {
    if (message.type !== 'assistant' && message.type !== 'user') return;
    const content = isRecord(message.message) ? message.message.content : undefined;
    if (!Array.isArray(content)) return;
    const parent = typeof message.parent_tool_use_id === 'string' ? message.parent_tool_use_id : null;
    for (const block of content) {
      if (!isRecord(block)) continue;
      if (block.type === 'tool_use') {
        this.#start(String(block.id), { name: String(block.name), input: block.input, parent });
      } else if (block.type === 'tool_result') {
        this.#finish(String(block.tool_use_id), block);
      }
    }
  }

  #start(toolUseId: string, started: Started): void {
    if (this.#started.has(toolUseId)) return;
    this.#started.set(toolUseId, started);
    for (const watcher of this.#watchers) watcher.started?.({ toolUseId, name: started.name });
  }

  #finish(toolUseId: string, block: Frame): void {
    const started = this.#started.get(toolUseId);
    if (!started) return;
    this.#started.delete(toolUseId);
    const use: ToolUse = {
      toolUseId,
      name: started.name,
      input: started.input,
      result: block.content,
      isError: block.is_error === true,
      parentToolUseId: started.parent,
    };
    for (const watcher of this.#watchers) watcher.finished?.(use);
  }
}
