import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs, jitter } from '../../base/async/backoff.ts';
import { type Model, ModelError, type ModelEvent, type ModelRequest } from './model.ts';

/** A model that failed and is asked again, or whose fallback is asked now. */
export type RetryEvent = {
  readonly fault: ModelError;
  readonly failures: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  /** The model name that the next try asks for. */
  readonly model: string;
  /** `fallback`: the next try is the first of the fallback. */
  readonly kind: 'again' | 'fallback';
};

/** The policy's numbers, the fallback, and what a test replaces: time and chance. */
export type RetryOptions = Partial<Omit<RetryPolicy, 'fallbackAfter'>> & {
  /** Asked as `name` once `after` tries have failed; its own limits are not consulted. */
  fallback?: { model: Model; name: string; after?: number };
  onRetry?: (event: RetryEvent) => void;
  /** Rejects once the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  random?: () => number;
};

const DEFAULTS = { maxRetries: 10, maxUnreachableRetries: 5, firstDelayMs: 500, maxDelayMs: 60_000 };

/** The same model, asked again while it is overloaded, limited or unreachable; once a reply has begun, its fault is passed on. */
export function withRetry(model: Model, options: RetryOptions = {}): Model {
  const { fallback, onRetry, random = Math.random } = options;
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, { signal }));
  const policy: RetryPolicy = {
    ...DEFAULTS,
    // A number that somebody chose is meant for every kind of failure.
    ...(options.maxRetries !== undefined && { maxUnreachableRetries: options.maxRetries }),
    ...options,
  };
  const firstPolicy: RetryPolicy = fallback ? { ...policy, fallbackAfter: fallback.after ?? 3 } : policy;

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const { signal } = request;
    let asked = { model, request, isFallback: false };
    for (let failures = 1; ; failures++) {
      let hasBegun = false;
      try {
        for await (const event of asked.model.stream(asked.request)) {
          hasBegun = true;
          yield event;
        }
        return;
      } catch (fault) {
        signal.throwIfAborted();
        if (hasBegun || !(fault instanceof ModelError)) throw fault;
        const step = retryStep(fault, failures, asked.isFallback ? policy : firstPolicy, random());
        if (step.kind === 'give-up') throw fault;
        if (step.kind === 'fallback' && fallback) {
          asked = { model: fallback.model, request: { ...request, model: fallback.name }, isFallback: true };
        }
        const delayMs = step.kind === 'again' ? step.delayMs : 0;
        const { maxRetries } = step.kind === 'again' ? step : policy;
        const { kind } = step;
        onRetry?.({ fault, failures, maxRetries, delayMs, model: asked.request.model, kind });
        if (delayMs > 0) await unlessAborted(sleep(delayMs, signal), signal);
      }
    }
  }
  return { name: model.name, limits: model.limits, stream };
}

/** Whatever a sleep rejects with, an abort is told by its own reason. */
async function unlessAborted(sleep: Promise<unknown>, signal: AbortSignal): Promise<void> {
  try {
    await sleep;
  } finally {
    signal.throwIfAborted();
  }
}

/** How often and how long a failing model is waited for. */
type RetryPolicy = {
  /** Retries of one request, over all models. */
  readonly maxRetries: number;
  /** The same for requests that got no HTTP response. */
  readonly maxUnreachableRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Failures after which the fallback is asked instead; without one, never. */
  readonly fallbackAfter?: number;
};

/** What to do about a failure. */
type RetryStep =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'again'; readonly delayMs: number; readonly maxRetries: number }
  | { readonly kind: 'fallback' };

/** Decides after the n-th failure (from 1) of one request; `random` is in [0, 1). */
export function retryStep(
  fault: ModelError,
  failures: number,
  policy: RetryPolicy,
  random: number,
): RetryStep {
  if (!isTransient(fault)) return { kind: 'give-up' };
  const maxRetries = retryLimit(fault, policy);
  const fallbackAfter = Math.min(policy.fallbackAfter ?? Number.POSITIVE_INFINITY, maxRetries + 1);
  if (policy.fallbackAfter !== undefined && failures >= fallbackAfter) return { kind: 'fallback' };
  if (failures > maxRetries) return { kind: 'give-up' };
  const asked = fault.retryAfterMs;
  // Waiting longer than a person would is no help; less than was asked is refused again.
  if (asked !== undefined && asked > policy.maxDelayMs) {
    return { kind: policy.fallbackAfter === undefined ? 'give-up' : 'fallback' };
  }
  const backoff = backoffMs({ firstMs: policy.firstDelayMs, maxMs: policy.maxDelayMs }, failures);
  const delayMs = Math.round(Math.max(asked ?? 0, jitter(backoff, random)));
  return { kind: 'again', delayMs, maxRetries };
}

function retryLimit(fault: ModelError, { maxRetries, maxUnreachableRetries }: RetryPolicy): number {
  const limit = fault.code === 'unreachable' ? maxUnreachableRetries : maxRetries;
  return Math.min(limit, fault.retryLimit ?? Number.POSITIVE_INFINITY);
}

/** Whether the same request may succeed later. */
function isTransient({ code, status }: ModelError): boolean {
  if (code === 'overloaded' || code === 'rate-limited' || code === 'unreachable') return true;
  return code === 'failed' && status !== undefined && status >= 500;
}
