/** Thrown when a schema exceeds the work limit; `normalForm` catches it. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/**
 * A bound on the work for one schema. It counts steps rather than time: what becomes of a schema must not hang on the
 * machine. A step is about as long as a look into a map.
 */
export class Meter {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooLarge();
  }

  /** For work that goes through texts character by character. */
  read(...texts: readonly string[]): void {
    let length = 0;
    for (const text of texts) length += text.length;
    this.spend(1 + length / CHARACTERS_PER_STEP);
  }

  /** For work that goes through a JSON value as often as it would be written. */
  walk(value: unknown): void {
    if (typeof value === 'string') this.read(value);
    else this.spend(1);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) for (const item of value) this.walk(item);
    else {
      for (const key of Object.keys(value)) {
        this.read(key);
        this.walk((value as Record<string, unknown>)[key]);
      }
    }
  }
}

const CHARACTERS_PER_STEP = 8;
