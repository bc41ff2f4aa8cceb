import type { Clock } from '../../../../src/base/clock.ts';

/** Time that passes when the test says so. Everything that follows from one moment has happened before the next comes. */
export class FakeClock implements Clock {
  /** How often anything was planned. */
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

  /** How many timers wait. */
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

  /** The machine sleeps: the clock on the wall goes on, timers do not. */
  sleep(ms: number): void {
    this.#slept += ms;
  }
}

/** Lets everything happen that needs no time. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
