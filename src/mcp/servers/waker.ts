import type { Clock } from './clock.ts';
import type { ServerSlot } from './server-slot.ts';

/** Servers that come and go hurry the others no more often than this. */
const WAKE_MS = 10_000;

/** Dials servers on the network that wait to be dialled again: where one is back, others may be. */
export class Waker {
  readonly #slots: ReadonlyMap<string, ServerSlot>;
  readonly #clock: Clock;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(slots: ReadonlyMap<string, ServerSlot>, clock: Clock) {
    this.#slots = slots;
    this.#clock = clock;
  }

  /** As `wake`, but at most once every 10 s. */
  async soonEnough(): Promise<void> {
    if (this.#clock.now() - this.#wokenAt >= WAKE_MS) await this.wake();
  }

  /** Settles when that has come to something. */
  async wake(): Promise<void> {
    const waiting = [...this.#slots.values()].filter(
      ({ lane, state }) => lane === 'remote' && state.kind === 'failed',
    );
    if (waiting.length > 0) this.#wokenAt = this.#clock.now();
    for (const slot of waiting) slot.again('woken');
    await Promise.all(waiting.map((slot) => slot.rested()));
  }
}
