import { messageOf } from '../../protocol/sdk-error.ts';
import type { ToolOutcome, ToolUse } from '../loop/run-calls.ts';
import type { ModelMessage } from '../models/model.ts';

/** Something that adds texts of the agent itself to a conversation, such as memory files or the state of a list. */
export type ReminderSource = {
  /** Texts before a prompt. `isFirst`: the conversation contains no such text, because it is new or was compacted. */
  beforePrompt?(at: PromptMoment, signal: AbortSignal): Texts;
  /** Texts before the first prompt of a sub-agent. */
  beforeSubAgent?(signal: AbortSignal): Texts;
  /** Texts after the results of a round of tool calls of the lead. */
  afterRound?(round: ToolRound, signal: AbortSignal): Texts;
};

export type PromptMoment = { readonly isFirst: boolean };

export type ToolRound = {
  readonly calls: readonly ToolUse[];
  readonly outcomes: readonly ToolOutcome[];
};

type Texts = Promise<readonly string[]> | readonly string[];

/** Collects the reminders of all sources, in the order in which the sources were added. */
export class Reminders {
  readonly #sources: ReminderSource[] = [];
  readonly #note: (text: string) => void;
  /** The first message of the conversation at the last prompt; another one after a compaction. */
  #first: ModelMessage | undefined;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  add(source: ReminderSource): void {
    this.#sources.push(source);
  }

  /** The reminders before a prompt that is added to these messages. A resumed conversation contains its first ones. */
  async beforePrompt(messages: readonly ModelMessage[], signal: AbortSignal): Promise<string[]> {
    const [first] = messages;
    const isFirst = first === undefined || (this.#first !== undefined && this.#first !== first);
    return this.#collect((source) => source.beforePrompt?.({ isFirst }, signal));
  }

  /** Records the messages that a prompt was added to. */
  added(messages: readonly ModelMessage[]): void {
    this.#first = messages[0];
  }

  beforeSubAgent(signal: AbortSignal): Promise<string[]> {
    return this.#collect((source) => source.beforeSubAgent?.(signal));
  }

  afterRound(round: ToolRound, signal: AbortSignal): Promise<string[]> {
    return this.#collect((source) => source.afterRound?.(round, signal));
  }

  /** A source that fails adds nothing, and the user is notified. */
  async #collect(textsOf: (source: ReminderSource) => Texts | undefined): Promise<string[]> {
    const texts: string[] = [];
    for (const source of this.#sources) {
      try {
        texts.push(...((await textsOf(source)) ?? []));
      } catch (cause) {
        this.#note(`A reminder could not be sent to the model: ${messageOf(cause)}`);
      }
    }
    return texts.map(reminderText);
  }
}

/** A text of the agent itself, as the model gets it. The text cannot end the element. */
export function reminderText(text: string): string {
  return `<system-reminder>\n${text.replaceAll(/<(?=\/?system-reminder\b)/gi, '&lt;')}\n</system-reminder>`;
}
