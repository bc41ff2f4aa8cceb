import { backoffMs, jitter } from '../../base/async/backoff.ts';

/** How servers that did not come, or were lost, are dialled again. */
export type RetryPolicy = {
  /** The first wait at most; each one after it is at most twice as long. */
  readonly firstMs: number;
  /** The maximum delay. */
  readonly ceilingMs: number;
  /** How many times in a row at most. */
  readonly attempts: number;
  /** After so many times a process that has never come up is started only now and then. */
  readonly startAttempts: number;
};

export const RETRY: RetryPolicy = {
  firstMs: 500,
  ceilingMs: 30_000,
  attempts: Number.POSITIVE_INFINITY,
  startAttempts: 5,
};

/** What a server has been like. */
export type Past = {
  readonly hasCome: boolean;
  /** Dials and connections in a row that came to nothing. */
  readonly failures: number;
  /** Connections in a row that did not last. */
  readonly shortLives: number;
};

export const NO_PAST: Past = { hasCome: false, failures: 0, shortLives: 0 };

/** Whoever stays as long as this has come back for good, so that the next wait is short again. */
const HEALTHY_MS = 10_000;
/** A connection that was lost sooner than this had a short life. */
const SHORT_LIFE_MS = 60_000;
/** So many short lives in a row are a storm. */
const STORM = 5;
/** The pause in a storm may grow to so many times the longest wait. */
const STORM_FACTOR = 10;

/** Whether it keeps coming and going: nobody but a person hurries its next dial then. */
export function isStormy({ shortLives }: Past): boolean {
  return shortLives >= STORM;
}

export function afterLoss(past: Past, livedMs: number): Past {
  return {
    hasCome: true,
    failures: livedMs >= HEALTHY_MS ? 1 : past.failures + 1,
    shortLives: livedMs >= SHORT_LIFE_MS ? 0 : past.shortLives + 1,
  };
}

/** The shortest wait is this part of the longest one. */
const LEAST_WAIT = 1 / 4;

/** How long to wait after the last failure; `luck` in [0, 1) spreads those that failed together. */
export function retryWait(past: Past, luck: number, { firstMs, ceilingMs }: RetryPolicy): number {
  const wait = jitter(backoffMs({ firstMs, maxMs: ceilingMs }, past.failures), luck, LEAST_WAIT);
  if (!isStormy(past)) return Math.round(wait);
  const pause = backoffMs({ firstMs, maxMs: ceilingMs * STORM_FACTOR }, past.shortLives + 1);
  return Math.round(Math.max(wait, jitter(pause, luck)));
}

/** The wait of one that has hardly a chance. */
export function seldomWait(luck: number, { ceilingMs }: RetryPolicy): number {
  return Math.round(jitter(ceilingMs * STORM_FACTOR, luck));
}
