import { pluralize } from '../../base/text/display-text.ts';
/** An event for the agent, such as a message pushed by a server or the end of a task. */
export type WakeEvent = { readonly source: string; readonly text: string };

/** Maximum number of stored events; beyond it, the oldest are dropped, and the next `take` reports how many. */
const MAX_KEPT = 1000;

/** Events that wake an agent, stored until they are taken. */
export class WakeQueue {
  #kept: WakeEvent[] = [];
  #dropped = 0;
  readonly #sleepers = new Set<(events: readonly WakeEvent[]) => void>();

  /** Resolves all waiting calls with the event. */
  push(event: WakeEvent): void {
    this.#kept.push(event);
    if (this.#kept.length > MAX_KEPT) {
      this.#kept.shift();
      this.#dropped += 1;
    }
    if (this.#sleepers.size === 0) return;
    const events = this.take();
    for (const wake of this.#sleepers) wake(events);
    this.#sleepers.clear();
  }

  /** Wakes current waiters without keeping the event. */
  nudge(event: WakeEvent): void {
    const sleepers = [...this.#sleepers];
    this.#sleepers.clear();
    for (const wake of sleepers) wake([event]);
  }

  /** The events since the last call, oldest first. */
  take(): readonly WakeEvent[] {
    const events = this.#kept;
    if (this.#dropped > 0) {
      events.unshift({
        source: 'toolplane',
        text: `${pluralize(this.#dropped, 'earlier event')} dropped because the queue was full`,
      });
    }
    this.#kept = [];
    this.#dropped = 0;
    return events;
  }

  /** Returns events that could not be delivered; they are kept once for the next taker. */
  giveBack(events: readonly WakeEvent[]): void {
    this.#kept.unshift(...events.filter((event) => !this.#kept.includes(event)));
  }

  /** Takes the stored events, or waits for the next one; empty if the signal is aborted first. */
  async wait(signal: AbortSignal): Promise<readonly WakeEvent[]> {
    if (signal.aborted) return [];
    if (this.#kept.length > 0) return this.take();
    const { promise, resolve } = Promise.withResolvers<readonly WakeEvent[]>();
    const giveUp = () => {
      this.#sleepers.delete(resolve);
      resolve([]);
    };
    this.#sleepers.add(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }
}
