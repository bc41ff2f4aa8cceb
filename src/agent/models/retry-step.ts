import type { ModelFault } from './model.ts';

/** How often and how long a failing model is waited for. */
export type RetryPolicy = {
  /** Retries of one request, over all models. */
  readonly maxRetries: number;
  /** The same for requests that got no HTTP response. */
  readonly maxUnreachableRetries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Failures after which the fallback is asked instead; without one, never. */
  readonly fallbackAfter?: number;
};

/** What to do about a failure. */
export type RetryStep =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'again'; readonly delayMs: number; readonly maxRetries: number }
  | { readonly kind: 'fallback' };

/** Decides after the n-th failure (from 1) of one request; `random` is in [0, 1). */
export function retryStep(
  fault: ModelFault,
  failures: number,
  policy: RetryPolicy,
  random: number,
): RetryStep {
  if (!isPassing(fault)) return { kind: 'give-up' };
  const maxRetries = retryLimit(fault, policy);
  const fallbackAfter = Math.min(policy.fallbackAfter ?? Number.POSITIVE_INFINITY, maxRetries + 1);
  if (policy.fallbackAfter !== undefined && failures >= fallbackAfter) return { kind: 'fallback' };
  if (failures > maxRetries) return { kind: 'give-up' };
  const asked = fault.retryAfterMs;
  // Waiting longer than a person would is no help; less than was asked is refused again.
  if (asked !== undefined && asked > policy.longestDelayMs) {
    return { kind: policy.fallbackAfter === undefined ? 'give-up' : 'fallback' };
  }
  const backoff = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.longestDelayMs);
  const jittered = backoff * (1 - random / 2);
  return { kind: 'again', delayMs: Math.round(Math.max(asked ?? 0, jittered)), maxRetries };
}

function retryLimit(fault: ModelFault, { maxRetries, maxUnreachableRetries }: RetryPolicy): number {
  const limit = fault.code === 'unreachable' ? maxUnreachableRetries : maxRetries;
  return Math.min(limit, fault.retryLimit ?? Number.POSITIVE_INFINITY);
}

/** Whether the same request may succeed later. */
function isPassing({ code, status }: ModelFault): boolean {
  if (code === 'overloaded' || code === 'rate-limited' || code === 'unreachable') return true;
  return code === 'failed' && status !== undefined && status >= 500;
}
