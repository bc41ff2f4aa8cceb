import { backoffMs, jitter } from '../../base/async/timers.ts';

/** How failed and lost servers are reconnected. */
export type RetryPolicy = {
  /** Maximum of the first delay; it doubles with each retry. */
  readonly firstMs: number;
  /** The maximum delay. */
  readonly ceilingMs: number;
  /** Maximum number of retries in a row. */
  readonly attempts: number;
  /** After this many attempts, a process that has never started successfully is retried rarely. */
  readonly startAttempts: number;
};

export const RETRY: RetryPolicy = {
  firstMs: 500,
  ceilingMs: 30_000,
  attempts: Number.POSITIVE_INFINITY,
  startAttempts: 5,
};

/** The recent connections of a server. */
export type ConnectionHistory = {
  readonly hasConnected: boolean;
  /** Failed attempts and lost connections in a row. */
  readonly failures: number;
  /** Number of consecutive connections that were lost within `SHORT_CONNECTION_MS`. */
  readonly shortConnections: number;
};

export const NO_HISTORY: ConnectionHistory = { hasConnected: false, failures: 0, shortConnections: 0 };

/** A connection that lasted this long resets the backoff. */
const HEALTHY_MS = 10_000;
/** A connection lost sooner than this counts as short. */
const SHORT_CONNECTION_MS = 60_000;
/** This many short connections in a row mean that the server is flapping. */
const FLAPPING_THRESHOLD = 5;
/** The delay of a flapping server may grow to this multiple of the ordinary maximum. */
const FLAPPING_FACTOR = 10;

/** Whether the server keeps connecting and disconnecting; then only an explicit reconnect skips the delay. */
export function isFlapping({ shortConnections }: ConnectionHistory): boolean {
  return shortConnections >= FLAPPING_THRESHOLD;
}

export function afterLoss(past: ConnectionHistory, livedMs: number): ConnectionHistory {
  return {
    hasConnected: true,
    failures: livedMs >= HEALTHY_MS ? 1 : past.failures + 1,
    shortConnections: livedMs >= SHORT_CONNECTION_MS ? 0 : past.shortConnections + 1,
  };
}

/** Lower bound of the jitter factor. */
const MIN_JITTER = 1 / 4;

/** Delay before the next attempt; `random` in [0, 1) spreads servers that failed together. */
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

/** Delay for a process that has never started successfully. */
function rareRetryDelay(random: number, { ceilingMs }: RetryPolicy): number {
  return Math.round(jitter(ceilingMs * FLAPPING_FACTOR, random));
}

/** A failed attempt, as far as it decides about the next one. */
type FailedAttempt = {
  readonly retry: 'at-once' | 'later' | 'seldom' | 'never';
  /** The delay that the server asked for. */
  readonly retryAfterMs?: number;
};

type Attempts = { readonly attempt: number; readonly past: ConnectionHistory };

/** Whether a server is tried again after a failed attempt. */
export function mayRetry(
  { attempt, past }: Attempts,
  { retry }: FailedAttempt,
  { attempts }: RetryPolicy,
): boolean {
  if (retry === 'never') return false;
  // The very first attempt is not a retry.
  const retries = past.hasConnected ? attempt : attempt - 1;
  return retries < attempts;
}

/** Delay before the next attempt; at least what the server asked for. */
export function delayAfterFailure(
  { attempt, past }: Attempts,
  { retry, retryAfterMs = 0 }: FailedAttempt,
  random: number,
  policy: RetryPolicy,
): number {
  if (retry === 'at-once' && past.failures <= 1 && !isFlapping(past)) return retryAfterMs;
  const isRare = retry === 'seldom' && !past.hasConnected && attempt > policy.startAttempts;
  const delayMs = isRare ? rareRetryDelay(random, policy) : retryDelay(past, random, policy);
  return Math.max(delayMs, retryAfterMs);
}
