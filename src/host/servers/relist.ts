import type { Clock } from './clock.ts';

/** Servers that change much say so often: one list answers for a burst. */
const BURST_MS = 50;
/** One that says so at every list is listed more and more seldom. */
const LONGEST_MS = 5_000;

/** Lists again after changes, once for a burst and one list at a time: an older answer never replaces a newer one. */
export class Relist {
  readonly #clock: Clock;
  #running: Promise<void> | undefined;
  #isStale = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Settles when nothing is being listed anew. */
  done(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Something has changed; `list` is what is done about it, until the signal ends it. */
  changed(list: () => Promise<void>, signal: AbortSignal): void {
    this.#isStale = true;
    this.#running ??= this.#run(list, signal).finally(() => {
      this.#running = undefined;
    });
  }

  async #run(list: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let waitMs = BURST_MS; this.#isStale && !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
      await this.#pause(waitMs, signal);
      this.#isStale = false;
      // Whoever cannot list now keeps what was listed before.
      if (!signal.aborted) await list().catch(() => {});
    }
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stop();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const stop = this.#clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
