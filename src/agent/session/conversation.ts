import { randomUUID } from 'node:crypto';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { compact } from '../loop/compact.ts';
import { estimateTokens, shouldCompact, usedTokens } from '../loop/context-usage.ts';

import type { LoopConfig, LoopEvent, Round } from '../loop/loop.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { NewEntry } from '../transcript/transcript-entry.ts';

export type ConversationOptions = {
  readonly model: Model;
  modelName(): string;
  readonly hooks: SessionHooks;
  readonly transcript: Transcript | undefined;
  /** The title of a resumed session. */
  readonly title?: string | undefined;
  /** The earlier messages of a resumed conversation. */
  readonly messages: readonly ModelMessage[];
  emit(message: Frame): void;
  /** Receives the usage of compactions. */
  onUsage(model: string, usage: Usage): void;
};

/** The messages of a session. They are appended to the transcript, and compacted before they outgrow the model's window. */
export class Conversation {
  readonly messages: ModelMessage[];
  readonly #options: ConversationOptions;
  /** The usage that the model reported with its last reply, and how many messages it covers. */
  #counted: { usage: Usage; upTo: number } | undefined;
  #transcript: Transcript | undefined;
  /** The title of a session without one, which is stored with the next message. */
  #newTitle: string | undefined;
  /** Titles that the program has not been told yet. */
  #unreported: string[];

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#transcript = options.transcript;
    this.#unreported = options.title === undefined ? [] : [options.title];
    this.messages = [...options.messages];
  }

  get lastUsage(): Usage | undefined {
    return this.#counted?.usage;
  }

  add(content: readonly UserBlock[], uuid: string): void {
    this.messages.push({ role: 'user', content });
    this.#save({ type: 'user', content, uuid });
    if (this.#newTitle !== undefined) this.#save({ type: 'meta', title: this.#newTitle });
    this.#newTitle = undefined;
  }

  /** Names the session. A resumed session keeps the title it has; an unused session is not stored for its title. */
  rename(title: string): void {
    if (this.#options.title === undefined) this.#newTitle = title;
    this.#unreported.push(title);
  }

  /** Tells the program the title that the session was resumed with, and the one that it got since, in one line each. */
  reportTitles(): void {
    for (const title of this.#unreported.splice(0)) {
      const line = title.replaceAll(/\p{Cc}/gu, ' ');
      this.#options.emit({ type: 'system', subtype: 'session_title_changed', title: line });
    }
  }

  /** Saves the messages that the loop has added. */
  observe(event: LoopEvent, uuid: string): void {
    if (event.kind === 'replied') {
      const { id, content, model, usage } = event.message;
      // The usage of an interrupted reply is incomplete.
      if (event.message.isComplete) this.#counted = { usage, upTo: this.messages.length };
      if (content.length > 0) this.#save({ type: 'assistant', content, id, model, usage, uuid });
    } else if (event.kind === 'results-added') {
      this.#save({ type: 'results', content: event.content, uuid });
    } else if (event.kind === 'text-added') {
      this.#save({ type: 'user', content: event.content, uuid });
    }
  }

  /** Settles once everything said so far is in the transcript file. */
  async saved(): Promise<void> {
    await this.#transcript?.flush();
  }

  /** Starts an empty conversation, which is stored in another transcript. */
  clear(transcript: Transcript | undefined): void {
    this.messages.length = 0;
    this.#counted = undefined;
    this.#transcript = transcript;
  }

  readonly compactIfNeeded: NonNullable<LoopConfig['compactIfNeeded']> = async (
    messages,
    round,
    reason,
    signal,
  ) => {
    // A single prompt cannot be compacted.
    if (messages.length < 2) return false;
    if (reason === 'filling' && !shouldCompact(this.#used(messages, round), this.#options.model.limits))
      return false;
    return this.compact('auto', round.system, signal);
  };

  /** Returns whether the conversation is shorter now. */
  async compact(
    trigger: 'manual' | 'auto',
    system: string,
    signal: AbortSignal,
    instructions?: string,
  ): Promise<boolean> {
    const { model, modelName, hooks, emit } = this.#options;
    const fields = { trigger, custom_instructions: instructions ?? null };
    const before = await hooks.run('PreCompact', fields, signal);
    if (before.decision === 'deny' && trigger === 'manual') return false;
    emit({ type: 'system', subtype: 'status', status: 'compacting' });
    const done = await compact(this.messages, {
      model,
      modelName: modelName(),
      system,
      signal,
      ...(instructions !== undefined && { instructions }),
    }).finally(() => emit({ type: 'system', subtype: 'status', status: null }));
    if (done.usage.input_tokens + done.usage.output_tokens > 0) {
      this.#options.onUsage(modelName(), done.usage);
    }
    if (done.how === 'unchanged') return false;
    this.messages.splice(0, this.messages.length, ...done.messages);
    this.#counted = undefined;
    const { preTokens, summary, messages } = done;
    this.#save({ type: 'compaction', trigger, preTokens, summary, messages });
    const compact_metadata = { trigger, pre_tokens: preTokens, post_tokens: done.postTokens };
    emit({ type: 'system', subtype: 'compact_boundary', compact_metadata });
    await hooks.run('PostCompact', { trigger, compact_summary: summary } as never, signal);
    const started = await hooks.run('SessionStart', { source: 'compact', model: modelName() }, signal);
    if (started.additionalContext !== undefined) {
      this.add([{ type: 'text', text: started.additionalContext }], randomUUID());
    }
    return true;
  }

  #used(messages: readonly ModelMessage[], { system, tools }: Round): number {
    if (!this.#counted) return estimateTokens({ system, tools, messages });
    return usedTokens(this.#counted.usage, messages.slice(this.#counted.upTo));
  }

  #save(entry: NewEntry): void {
    void this.#transcript?.append([entry]);
  }
}
