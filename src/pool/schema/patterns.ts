import type { Meter } from './meter.ts';

/** Tells what is a regular expression. It is only compiled, never run: a server's pattern may take for ever. */
export class Patterns {
  readonly #meter: Meter;
  readonly #known = new Map<string, boolean>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  has(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    let isPattern = this.#known.get(value);
    if (isPattern === undefined) {
      this.#meter.read(value);
      // Classes by properties of Unicode are looked up in large tables.
      this.#meter.spend(STEPS + STEPS_PER_CLASS * (value.split(/\\p/i).length - 1));
      isPattern = ['u', ''].some((flags) => compiles(value, flags));
      if (!isPattern) this.#meter.spend(STEPS_IF_NONE);
      this.#known.set(value, isPattern);
    }
    return isPattern;
  }
}

const STEPS = 128;
const STEPS_IF_NONE = 256;
const STEPS_PER_CLASS = 1000;

function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}
