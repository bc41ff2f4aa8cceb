import type { SDKMessageOrigin } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/**
 * When notices enter the conversation: after a tool round, when no turn runs, when the session waits only for the end of
 * background work, or together with a prompt of the user, which takes only those that start no turn by themselves.
 */
export type Moment = 'round' | 'idle' | 'finishing' | 'prompt';

/** A text for the model that the user did not write, such as messages of a channel. */
export type Notice = {
  readonly text: string;
  /** Where the notice comes from; undefined for a scheduled prompt, about which the program gets no message. */
  readonly origin?: SDKMessageOrigin;
  /** Whether the conversation contains the text already. */
  readonly isKnown?: true;
  /** Further members of the message that the program gets. */
  readonly details?: Frame;
};

/** Notices that enter the conversation together. */
export type TakenNotices = {
  readonly notices: readonly Notice[];
  /** Recorded in the transcript with the notices, so that a resumed session does not get them again. */
  readonly channelMessages: readonly string[];
};

/** The texts that enter the conversation. */
export function newTexts({ notices }: Pick<TakenNotices, 'notices'>): string[] {
  return notices.filter(({ isKnown }) => !isKnown).map(({ text }) => text);
}

/** The notices of one source. One of the two functions is called, once. */
export type NoticeBatch = TakenNotices & {
  /** Called once the model has answered the notices and the conversation with them is stored. */
  stored(): void;
  /** Called if the conversation ends before the model has answered them. */
  dropped(): void;
};

/** Something that gives the model notices. */
export type NoticeSource = { take(moment: Moment): NoticeBatch | undefined };

/** Collects the notices of all sources. They enter the conversation between tool rounds and between turns. */
export class NoticeQueue {
  readonly #sources: NoticeSource[] = [];
  /** What is in the conversation, but in no request that the model has answered. */
  #unanswered: NoticeBatch[] = [];

  add(source: NoticeSource): void {
    this.#sources.push(source);
  }

  /** What may enter the conversation now; undefined if there is nothing. */
  take(moment: Moment): TakenNotices | undefined {
    const batches = this.#sources.flatMap((source) => source.take(moment) ?? []);
    if (batches.length === 0) return undefined;
    this.#unanswered.push(...batches);
    return {
      notices: batches.flatMap(({ notices }) => notices),
      channelMessages: batches.flatMap(({ channelMessages }) => channelMessages),
    };
  }

  /** The model has answered a request with everything taken so far: it is delivered once the conversation is stored. */
  answered(stored: Promise<void>): void {
    const answered = this.#unanswered.splice(0);
    if (answered.length > 0)
      void stored.then(() => {
        for (const batch of answered) batch.stored();
      });
  }

  /** The conversation has ended: what the model has not answered goes back to its source. */
  giveBack(): void {
    for (const batch of this.#unanswered.splice(0)) batch.dropped();
  }
}
