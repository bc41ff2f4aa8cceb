import type { Clock } from './clock.ts';

/** One attempt may start a process or open a socket twice, so this allows at most 8 starts in the first 3 s. */
const MAX_DIALS = 4;
const WINDOW_MS = 3_500;

/** Bounds how often one server is dialled in any 3.5 s, whatever asks for it: retries, calls, `reconnect()`. */
export class DialLimit {
  readonly #clock: Clock;
  #recent: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next dial may begin, and counts that dial; rejects with the reason of an aborted signal. */
  async admit(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      this.#recent = this.#recent.filter((at) => at <= now && now - at < WINDOW_MS);
      const [oldest = now] = this.#recent;
      if (this.#recent.length < MAX_DIALS) break;
      await this.#pause(oldest + WINDOW_MS - now, signal);
    }
    this.#recent = [...this.#recent, this.#clock.now()];
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
