import type { Clock } from '../../../src/base/async/timers.ts';

export const MINUTE = 60_000;
export const START = Date.parse('2026-05-05T10:00:30Z');

/** A clock that jumps from timer to timer. */
export class StepClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  constructor(now = START) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [first] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!first || first.at > until) break;
      this.#timers.delete(first);
      this.#now = Math.max(this.#now, first.at);
      first.run();
    }
    this.#now = until;
  }
}
