import type { Clock } from './clock.ts';
import type { KeptList } from './lists.ts';

/** Servers that change much say so often: one list answers for a burst. */
const BURST_MS = 50;
/** One that says so at every list is listed more and more seldom. */
const LONGEST_MS = 5_000;

/** Lists again after changes, once for a burst and one list at a time: an older answer never replaces a newer one. */
export class Relist {
  readonly #clock: Clock;
  readonly #list: (which: readonly KeptList[]) => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #stale = new Set<KeptList>();
  #running: Promise<void> | undefined;

  /** `list` is what is done about a change, until the signal ends it. */
  constructor(clock: Clock, list: (which: readonly KeptList[]) => Promise<void>, signal: AbortSignal) {
    this.#clock = clock;
    this.#list = list;
    this.#signal = signal;
  }

  /** Settles when nothing is being listed anew. */
  done(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** These have changed, or are `due`: who does not come in bursts is not waited for. */
  changed(which: readonly KeptList[], why: 'told' | 'due' = 'told'): void {
    if (which.length === 0) return;
    for (const list of which) this.#stale.add(list);
    this.#running ??= this.#run(why === 'due' ? 0 : BURST_MS).finally(() => {
      this.#running = undefined;
    });
  }

  async #run(firstMs: number): Promise<void> {
    const isOpen = () => this.#stale.size > 0 && !this.#signal.aborted;
    for (let waitMs = firstMs; isOpen(); waitMs = Math.min(Math.max(2 * waitMs, BURST_MS), LONGEST_MS)) {
      if (waitMs > 0) await this.#pause(waitMs);
      const which = [...this.#stale];
      this.#stale.clear();
      // Whoever cannot list now keeps what was listed before.
      if (!this.#signal.aborted) await this.#list(which).catch(() => {});
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stop();
        this.#signal.removeEventListener('abort', end);
        resolve();
      };
      const stop = this.#clock.after(ms, end);
      this.#signal.addEventListener('abort', end, { once: true });
    });
  }
}
