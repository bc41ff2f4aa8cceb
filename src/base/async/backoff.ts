/** Limits of an exponential backoff. */
export type Backoff = {
  /** The delay after the first failure. */
  readonly firstMs: number;
  /** The maximum delay. */
  readonly maxMs: number;
};

/** The delay after the n-th failure in a row, counted from 1: `firstMs`, then twice as long each time, up to `maxMs`. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}

/**
 * A random part of a delay, so that clients that failed together do not return together. `random` is in [0, 1); the
 * result is at least `min` of the delay.
 */
export function jitter(ms: number, random: number, min = 1 / 2): number {
  return ms * (min + random * (1 - min));
}
