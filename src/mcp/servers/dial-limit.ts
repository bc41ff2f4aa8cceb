import type { Clock } from './clock.ts';

/** One attempt may start a process or open a socket twice, so this allows at most 8 starts in the first 3 s. */
const MAX_DIALS = 4;
/** Several sub-agents that run at once may each start a server of the same name. */
const MAX_SHARED_DIALS = 8;
const WINDOW_MS = 3_500;

/** Bounds how often one server is dialled in any 3.5 s, whatever asks for it: retries, calls, `reconnect()`. */
export class DialLimit {
  readonly #clock: Clock;
  readonly #max: number;
  #recent: readonly { at: number }[] = [];

  constructor(clock: Clock, max = MAX_DIALS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How long the next dial would have to wait; 0 if it may begin now. */
  waitMs(): number {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ at }) => at <= now && now - at < WINDOW_MS);
    if (this.#recent.length < this.#max) return 0;
    return Math.min(...this.#recent.map(({ at }) => at)) + WINDOW_MS - now;
  }

  /**
   * Resolves when the next dial may begin, and counts that dial; what it gives is called when the dial does begin, which
   * may be later. Rejects with the reason of an aborted signal.
   */
  async admit(signal: AbortSignal): Promise<() => void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = this.waitMs();
      if (waitMs <= 0) break;
      await this.#pause(waitMs, signal);
    }
    const dial = { at: this.#clock.now() };
    this.#recent = [...this.#recent, dial];
    return () => {
      dial.at = this.#clock.now();
    };
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

/** Limits by the names of servers, for several `Servers` that start servers of their own from the same entries. */
export class SharedDialLimits {
  readonly #clock: Clock;
  readonly #limits = new Map<string, DialLimit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(key: string): DialLimit {
    const limit = this.#limits.get(key) ?? new DialLimit(this.#clock, MAX_SHARED_DIALS);
    this.#limits.set(key, limit);
    return limit;
  }
}
