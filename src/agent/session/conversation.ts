import { randomUUID } from 'node:crypto';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { estimateTokens, shouldCompact, usedTokens } from '../loop/context-usage.ts';
import type { LoopConfig, LoopEvent, Round } from '../loop/loop.ts';
import type { Model, ModelMessage } from '../models/model.ts';
import { EarlierTotals } from '../transcript/earlier-totals.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { EntryNotes, NewEntry, ReplyUsage, SubAgentHeader } from '../transcript/transcript-entry.ts';
import { compactConversation } from './compaction.ts';

export type ConversationOptions = {
  readonly model: Model;
  modelName(): string;
  readonly hooks: SessionHooks;
  readonly transcript: Transcript | undefined;
  /** The title of a resumed session. */
  readonly title?: string | undefined;
  /** The earlier messages of a resumed conversation. */
  readonly messages: readonly ModelMessage[];
  /** The replies and messages of channels of a resumed conversation. */
  readonly earlierReplies?: readonly ReplyUsage[] | undefined;
  readonly channelMessages?: readonly string[] | undefined;
  readonly unansweredMessages?: readonly string[] | undefined;
  emit(message: Frame): void;
  /** Receives the usage of compactions. */
  onUsage(model: string, usage: Usage): void;
};

/** The entry that stores what an agent's loop has added to its conversation; undefined for other events. */
export function entryOf(event: LoopEvent, uuid: string): NewEntry | undefined {
  switch (event.kind) {
    case 'replied': {
      const { id, content, model, usage, stop_reason } = event.message;
      if (content.length === 0) return undefined;
      const requested = event.model !== model && { requestedModel: event.model };
      return { type: 'assistant', content, id, model, ...requested, stop_reason, usage, uuid };
    }
    case 'results-added':
      return { type: 'results', content: event.content, uuid };
    case 'text-added':
      return { type: 'user', content: event.content, uuid };
    default:
      return undefined;
  }
}

/** A command of the agent that the user ran, such as `/compact`. */
export type CommandRun = {
  readonly name: string;
  readonly args: string;
  /** The command as the user wrote it, if the model gets it in this form. */
  readonly typed?: string;
  /** What the command printed. */
  readonly output: string;
  /** Whether the output is an error. */
  readonly isError?: boolean;
  /** The id of the message with the output, if the program got one. */
  readonly uuid?: string;
};

const CAVEAT =
  'The user ran this command in the agent itself. It is not a request to you; its output is context for later messages.';

/** What a command printed, as programs and models get it. */
export function commandOutput(output: string, isError = false): string {
  const tag = isError ? 'local-command-stderr' : 'local-command-stdout';
  return `<${tag}>${output}</${tag}>`;
}

/** The messages of a session. They are appended to the transcript, and compacted before they outgrow the model's window. */
export class Conversation {
  readonly messages: ModelMessage[];
  readonly #options: ConversationOptions;
  /** The usage that the model reported with its last reply, and how many messages it covers. */
  #counted: { usage: Usage; upTo: number } | undefined;
  #transcript: Transcript | undefined;
  /** The title of a session without one, which is stored with the next message. */
  #newTitle: string | undefined;
  /** Commands that ran since the last prompt; they are added before the next one. */
  #commands: CommandRun[] = [];
  /** Titles that have not been sent to the program yet. */
  #unreported: string[];
  /** What the next entry of the transcript records besides its own content. */
  #notes: EntryNotes = {};
  /** The usage totals and channel messages of the entries in the transcript. */
  #totals: EarlierTotals;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#totals = new EarlierTotals(options.unansweredMessages);
    this.#totals.add({ otherReplies: options.earlierReplies, channelMessages: options.channelMessages });
    this.#transcript = options.transcript;
    this.#unreported = options.title === undefined ? [] : [options.title];
    this.messages = [...options.messages];
  }

  get lastUsage(): Usage | undefined {
    return this.#counted?.usage;
  }

  /** The messages of channels that no reply follows. */
  get unansweredMessages(): readonly string[] {
    return this.#totals.unanswered;
  }

  /** Adds a message: of the user, or one that the user did not write. */
  add(content: readonly UserBlock[], uuid: string, kind: 'prompt' | 'meta' = 'prompt'): void {
    for (const command of this.#commands.splice(0)) this.#addCommand(command);
    this.#addUser({ content, uuid, ...(kind === 'meta' && { isMeta: true }) });
    if (this.#newTitle !== undefined) this.#save({ type: 'meta', title: this.#newTitle });
    this.#newTitle = undefined;
  }

  /** Adds texts of the agent itself before a prompt. */
  addReminders(texts: readonly string[]): void {
    if (texts.length === 0) return;
    this.#addUser({ content: texts.map((text) => ({ type: 'text', text })), isMeta: true });
  }

  /** Lets the model know with the next prompt that a command ran. */
  noteCommand(command: CommandRun): void {
    this.#commands.push(command);
  }

  #addCommand({ name, args, typed, output, isError, uuid = randomUUID() }: CommandRun): void {
    const command = [
      `<command-name>/${name}</command-name>`,
      `<command-message>${name}</command-message>`,
      `<command-args>${args}</command-args>`,
    ].join('\n            ');
    const caveat = `<local-command-caveat>${CAVEAT}</local-command-caveat>`;
    this.#addUser({ content: [{ type: 'text', text: caveat }], isMeta: true });
    this.#addUser({ content: [{ type: 'text', text: typed ?? command }] });
    this.#addUser({ content: [{ type: 'text', text: commandOutput(output, isError) }], uuid });
  }

  #addUser(message: Omit<Extract<NewEntry, { type: 'user' }>, 'type'>): void {
    this.messages.push({ role: 'user', content: message.content });
    this.#save({ type: 'user', ...message });
  }

  /** Names the session. A resumed session keeps the title it has; an unused session is not stored for its title. */
  rename(title: string): void {
    if (this.#options.title === undefined) this.#newTitle = title;
    this.#unreported.push(title);
  }

  /** Sends the program the title that the session was resumed with, and the title that it got since, each on one line. */
  reportTitles(): void {
    for (const title of this.#unreported.splice(0)) {
      const line = title.replaceAll(/\p{Cc}/gu, ' ');
      this.#options.emit({ type: 'system', subtype: 'session_title_changed', title: line });
    }
  }

  /** Saves the messages that the loop has added. */
  observe(event: LoopEvent, uuid: string): void {
    // The usage of an interrupted reply is incomplete, and some endpoints report none.
    if (event.kind === 'replied' && event.message.isComplete && inputTokens(event.message.usage) > 0) {
      this.#counted = { usage: event.message.usage, upTo: this.messages.length };
    }
    if (event.kind === 'images-removed') {
      const removedImages = this.#notes.removedImages === 'all' ? 'all' : event.which;
      this.#notes = { ...this.#notes, removedImages };
    }
    if (event.kind === 'discarded') this.recordUsage({ model: event.model, usage: event.usage });
    const entry = entryOf(event, uuid);
    if (entry) this.#save(entry);
    else if (event.kind === 'replied') this.recordUsage({ model: event.model, usage: event.message.usage });
  }

  /** The transcript for a sub-agent of this conversation, which the caller owns; undefined if nothing is stored. */
  openSubAgentTranscript(agent: SubAgentHeader): Transcript | undefined {
    return this.#transcript?.forSubAgent(agent);
  }

  /** Records with the next entry which messages of channels it contains. */
  recordChannelMessages(keys: readonly string[]): void {
    if (keys.length > 0)
      this.#notes = { ...this.#notes, channelMessages: [...(this.#notes.channelMessages ?? []), ...keys] };
  }

  /** Stores the usage of a reply that is not part of the conversation with the next entry. */
  recordUsage(reply: ReplyUsage): void {
    this.#notes = { ...this.#notes, otherReplies: [...(this.#notes.otherReplies ?? []), reply] };
  }

  /** Settles once all messages so far are in the transcript file. */
  async saved(): Promise<void> {
    await this.#transcript?.flush();
  }

  /** Starts an empty conversation, which is stored in another transcript. */
  clear(transcript: Transcript | undefined): void {
    this.messages.length = 0;
    this.#commands = [];
    this.#counted = undefined;
    this.#notes = {};
    this.#totals = new EarlierTotals();
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

  /** Returns whether the conversation is shorter now. `onDone` is called before the messages about the compaction are sent. */
  async compact(
    trigger: 'manual' | 'auto',
    system: string,
    signal: AbortSignal,
    more: { instructions?: string | undefined; onDone?: () => void } = {},
  ): Promise<boolean> {
    const { model, modelName, hooks, emit, onUsage } = this.#options;
    return compactConversation(
      this.messages,
      {
        ...{ model, modelName, hooks, emit, onUsage },
        replaced: ({ preTokens, summary, messages }) => {
          this.#counted = undefined;
          this.#save({
            type: 'compaction',
            trigger,
            preTokens,
            summary,
            messages,
            earlier: this.#totals.sum(),
          });
          more.onDone?.();
        },
        addContext: (text) => this.add([{ type: 'text', text }], randomUUID()),
      },
      { trigger, system, signal, instructions: more.instructions },
    );
  }

  #used(messages: readonly ModelMessage[], { system, tools }: Round): number {
    if (!this.#counted) return estimateTokens({ system, tools, messages });
    return usedTokens(this.#counted.usage, messages.slice(this.#counted.upTo));
  }

  #save(entry: NewEntry): void {
    const notes = entry.type === 'meta' ? {} : this.#notes;
    if (entry.type !== 'meta') this.#notes = {};
    const saved = { ...entry, ...notes };
    this.#totals.addEntry(saved);
    void this.#transcript?.append([saved]);
  }
}

function inputTokens({ input_tokens, cache_creation_input_tokens, cache_read_input_tokens }: Usage): number {
  return input_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
}
