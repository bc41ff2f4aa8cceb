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
export type ConnectionHistory = {
  readonly hasConnected: boolean;
  /** Dials and connections in a row that came to nothing. */
  readonly failures: number;
  /** Connections in a row that did not last. */
  readonly shortConnections: number;
};

export const NO_HISTORY: ConnectionHistory = { hasConnected: false, failures: 0, shortConnections: 0 };

/** Whoever stays as long as this has come back for good, so that the next wait is short again. */
const HEALTHY_MS = 10_000;
/** A connection that was lost sooner than this had a short life. */
const SHORT_CONNECTION_MS = 60_000;
/** So many short lives in a row are a storm. */
const FLAPPING_THRESHOLD = 5;
/** The pause in a storm may grow to so many times the longest wait. */
const FLAPPING_FACTOR = 10;

/** Whether it keeps coming and going: nobody but a person hurries its next dial then. */
export function isFlapping({ shortConnections: shortLives }: ConnectionHistory): boolean {
  return shortLives >= FLAPPING_THRESHOLD;
}

export function afterLoss(past: ConnectionHistory, livedMs: number): ConnectionHistory {
  return {
    hasConnected: true,
    failures: livedMs >= HEALTHY_MS ? 1 : past.failures + 1,
    shortConnections: livedMs >= SHORT_CONNECTION_MS ? 0 : past.shortConnections + 1,
  };
}

/** The shortest wait is this part of the longest one. */
const MIN_JITTER = 1 / 4;

/** How long to wait after the last failure; `luck` in [0, 1) spreads those that failed together. */
export function retryDelay(
  past: ConnectionHistory,
  random: number,
  { firstMs, ceilingMs }: RetryPolicy,
): number {
  const delayMs = backoffMs({ firstMs, maxMs: ceilingMs }, past.failures);
  const wait = jitter(delayMs, Math.max(random, MIN_JITTER), 0);
  if (!isFlapping(past)) return Math.round(wait);
  const pause = backoffMs({ firstMs, maxMs: ceilingMs * FLAPPING_FACTOR }, past.shortConnections + 1);
  return Math.round(Math.max(wait, jitter(pause, random)));
}

/** The wait of one that has hardly a chance. */
export function rareRetryDelay(random: number, { ceilingMs }: RetryPolicy): number {
  return Math.round(jitter(ceilingMs * FLAPPING_FACTOR, random));
}
