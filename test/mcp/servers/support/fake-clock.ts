import type { Clock } from '../../../../src/base/async/timers.ts';

/** A clock that the test advances. All effects of one moment have happened before the next one begins. */
export class FakeClock implements Clock {
  /** The number of timers that were set so far. */
  planned = 0;
  readonly #timers = new Set<{ at: number; run: () => void }>();
  #ticks = 0;
  #slept = 0;

  now(): number {
    return 1_000_000 + this.#ticks + this.#slept;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#ticks + ms, run };
    this.planned++;
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of pending timers. */
  get waiting(): number {
    return this.#timers.size;
  }

  async advance(ms: number): Promise<void> {
    const until = this.#ticks + ms;
    for (await settle(); ; await settle()) {
      const [first] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!first || first.at > until) break;
      this.#timers.delete(first);
      this.#ticks = Math.max(this.#ticks, first.at);
      first.run();
    }
    this.#ticks = until;
  }

  /** Suspends the machine: the system time advances, timers do not. */
  sleep(ms: number): void {
    this.#slept += ms;
  }
}

/** Runs everything that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
