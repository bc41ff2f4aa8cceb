import type { EraMemory, EraVerdict } from './world.ts';

/** A verdict and when it was found. */
export type DatedVerdict = { readonly verdict: EraVerdict; readonly at: number };

const MAX_ENTRIES = 500;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** Remembers eras as long as it lives: the newest 500, each for a week. `onChange` hears that there is something new. */
export class MemoryEras implements EraMemory {
  readonly #verdicts: Map<string, DatedVerdict>;
  readonly #now: () => number;
  readonly #onChange: () => void;

  constructor(
    now: () => number,
    known: Iterable<readonly [string, DatedVerdict]> = [],
    onChange: () => void = () => {},
  ) {
    this.#now = now;
    this.#verdicts = new Map(known);
    this.#onChange = onChange;
    this.#trim();
  }

  get entries(): ReadonlyMap<string, DatedVerdict> {
    return this.#verdicts;
  }

  recall(key: string): EraVerdict | undefined {
    const found = this.#verdicts.get(key);
    return found && this.#now() - found.at < MAX_AGE_MS ? found.verdict : undefined;
  }

  /** A verdict that was known already is not dated anew: even a good one is asked for again in time. */
  remember(key: string, verdict: EraVerdict | undefined): void {
    const known = this.recall(key);
    if (JSON.stringify(known) === JSON.stringify(verdict)) return;
    this.#verdicts.delete(key);
    if (verdict) this.#verdicts.set(key, { verdict, at: this.#now() });
    this.#trim();
    this.#onChange();
  }

  #trim(): void {
    for (const [key, { at }] of this.#verdicts) {
      if (this.#verdicts.size <= MAX_ENTRIES && this.#now() - at < MAX_AGE_MS) return;
      this.#verdicts.delete(key);
    }
  }
}

/** Eras for as long as the process runs. */
export function memoryEras(now: () => number = Date.now): EraMemory {
  return new MemoryEras(now);
}
