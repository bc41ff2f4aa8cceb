import { channelElement } from './channel-message.ts';
import type { StoredMessage } from './stored-message.ts';

/** Limits of one delivery; the rest follows with the next one. */
export const MAX_BATCH = 100;
const MAX_BATCH_LENGTH = 64 * 1024;

/** A message that waits, without its content. */
export type WaitingMessage = { readonly seq: number; readonly source: string; readonly bytes: number };

/**
 * Picks the messages of one delivery: of each source in turn the oldest, so that a source with many or large messages does
 * not hold up the others. The source that begins changes with every delivery.
 */
export class FairBatch {
  /** The sources that began the last delivery and the one that was picked last. */
  #last: string | undefined;
  #picked: string | undefined;

  /** The positions of the messages, in turn; one at least, if any waits. Each list has the messages of one source, oldest first. */
  pick(bySource: readonly (readonly WaitingMessage[])[]): number[] {
    const queues = this.#inTurn(bySource.filter(({ length }) => length > 0));
    const picked: WaitingMessage[] = [];
    this.#picked = queues[0]?.[0]?.source;
    let bytes = 0;
    for (let round = 0; queues.some(({ length }) => length > round); round++) {
      for (const queue of queues) {
        const message = queue[round];
        if (!message) continue;
        bytes += message.bytes;
        const isFull = picked.length >= MAX_BATCH || bytes > MAX_BATCH_LENGTH;
        if (isFull && picked.length > 0) return picked.map(({ seq }) => seq);
        picked.push(message);
      }
    }
    return picked.map(({ seq }) => seq);
  }

  /** Leaves out what is too long once it is escaped; the rest is in the order in which the messages were stored. */
  fit(seqs: readonly number[], messages: readonly StoredMessage[]): StoredMessage[] {
    const bySeq = new Map(messages.map((message) => [message.seq, message]));
    const inTurn = seqs.flatMap((seq) => bySeq.get(seq) ?? []);
    let length = 0;
    const end = inTurn.findIndex((message, at) => {
      length += channelElement(message).length;
      return at > 0 && length > MAX_BATCH_LENGTH;
    });
    return inTurn.slice(0, end === -1 ? inTurn.length : end).toSorted((a, b) => a.seq - b.seq);
  }

  /** Called when what was picked last is delivered. */
  delivered(): void {
    this.#last = this.#picked;
  }

  #inTurn(queues: readonly (readonly WaitingMessage[])[]): readonly (readonly WaitingMessage[])[] {
    const at = queues.findIndex(([message]) => message?.source === this.#last);
    return [...queues.slice(at + 1), ...queues.slice(0, at + 1)];
  }
}
