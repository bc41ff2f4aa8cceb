import type { ModelFault } from './model.ts';

/** How often and how long a failing model is waited for. */
export type RetryPolicy = {
  /** Failures after which it is given up, over all models. */
  readonly maxFailures: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Failures after which the fallback is asked instead; without one, never. */
  readonly fallbackAfter?: number;
};

/** What to do about a failure. */
export type RetryStep =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'again'; readonly delayMs: number }
  | { readonly kind: 'fallback' };

/** Decides after the n-th failure (from 1) of one request; `random` is in [0, 1). */
export function retryStep(
  fault: ModelFault,
  failures: number,
  policy: RetryPolicy,
  random: number,
): RetryStep {
  if (!isPassing(fault)) return { kind: 'give-up' };
  if (failures === policy.fallbackAfter) return { kind: 'fallback' };
  if (failures >= policy.maxFailures) return { kind: 'give-up' };
  const asked = fault.retryAfterMs;
  // Waiting longer than a person would is no help; less than was asked is refused again.
  if (asked !== undefined && asked > policy.longestDelayMs) {
    const hasFallback = policy.fallbackAfter !== undefined && failures < policy.fallbackAfter;
    return hasFallback ? { kind: 'fallback' } : { kind: 'give-up' };
  }
  const backoff = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.longestDelayMs);
  const jittered = backoff * (1 - random / 2);
  return { kind: 'again', delayMs: Math.round(Math.max(asked ?? 0, jittered)) };
}

/** Whether the same request may succeed later. */
function isPassing({ code, status }: ModelFault): boolean {
  if (code === 'overloaded' || code === 'rate-limited' || code === 'unreachable') return true;
  return code === 'failed' && status !== undefined && status >= 500;
}
