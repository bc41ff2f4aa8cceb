import type { Clock } from './clock.ts';
import type { KeptList } from './lists.ts';

/** Servers that change much say so often: one list answers for a burst. */
const BURST_MS = 50;
/** One that says so at every list is listed more and more seldom. */
const LONGEST_MS = 5_000;
/** A change that is told during a list is worth another; whoever goes on like that is not waited for. */
const LISTS_AWAITED = 2;
/** How long lists that have changed are waited for. */
export const PATIENCE_MS = 2_000;

/** Lists again after changes, once for a burst and one list at a time: an older answer never replaces a newer one. */
export class Relist {
  readonly #clock: Clock;
  readonly #list: (which: readonly KeptList[]) => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #stale = new Set<KeptList>();
  #isRunning = false;
  /** The lists that are worth a wait. */
  #awaited: Promise<void> | undefined;
  /** Whether somebody waited in vain, and no list came in time since. */
  #isSlow = false;

  /** `list` is what is done about a change, until the signal ends it. */
  constructor(clock: Clock, list: (which: readonly KeptList[]) => Promise<void>, signal: AbortSignal) {
    this.#clock = clock;
    this.#list = list;
    this.#signal = signal;
  }

  /** Settles when what has changed is listed, or soon: whoever changes without end or was too slow keeps nobody. */
  async done(): Promise<void> {
    const awaited = this.#awaited;
    if (!awaited || this.#isSlow) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#clock.after(PATIENCE_MS, () => {
      this.#isSlow = true;
      resolve();
    });
    await Promise.race([awaited, promise]).finally(stop);
  }

  /** These have changed, or are `due`: who does not come in bursts is not waited for. */
  changed(which: readonly KeptList[], why: 'told' | 'due' = 'told'): void {
    if (which.length === 0) return;
    for (const list of which) this.#stale.add(list);
    if (!this.#isRunning) void this.#run(why === 'due' ? 0 : BURST_MS);
  }

  async #run(firstMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const since = this.#clock.now();
    const release = () => {
      if (this.#awaited !== promise) return;
      this.#isSlow &&= this.#clock.now() - since >= PATIENCE_MS;
      this.#awaited = undefined;
      resolve();
    };
    this.#isRunning = true;
    this.#awaited = promise;
    const isOpen = () => this.#stale.size > 0 && !this.#signal.aborted;
    let lists = 0;
    for (let waitMs = firstMs; isOpen(); waitMs = Math.min(Math.max(2 * waitMs, BURST_MS), LONGEST_MS)) {
      if (waitMs > 0) await this.#pause(waitMs);
      const which = [...this.#stale];
      this.#stale.clear();
      // Whoever cannot list now keeps what was listed before.
      if (!this.#signal.aborted) await this.#list(which).catch(() => {});
      if (++lists === LISTS_AWAITED) release();
    }
    this.#isRunning = false;
    release();
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
