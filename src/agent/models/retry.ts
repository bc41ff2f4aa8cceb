import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs, jitter } from '../../base/async/timers.ts';
import { isThinking, MessageCollector } from './message-collector.ts';
import { type Model, ModelError, type ModelErrorCode, type ModelEvent, type ModelRequest } from './model.ts';

/** A failed request that is retried, or sent to the fallback. */
export type RetryEvent = {
  readonly error: ModelError;
  readonly failures: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  /** The model name of the failed attempt. */
  readonly failedModel: string;
  /** The model name of the next attempt. */
  readonly model: string;
  /** `fallback`: the next attempt is the first with the fallback. */
  readonly kind: 'retry' | 'fallback';
};

/** The policy and the fallback; tests replace `sleep` and `random`. */
export type RetryOptions = Partial<Omit<RetryPolicy, 'fallbackAfter'>> & {
  /** Each name is used after `after` failed attempts with the one before it; the limits of `model` do not apply. */
  fallback?: { model: Model; names: readonly string[]; after?: number };
  onRetry?: (event: RetryEvent) => void;
  /** Rejects once the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  random?: () => number;
};

const DEFAULTS = { maxRetries: 10, maxUnreachableRetries: 5, firstDelayMs: 500, maxDelayMs: 60_000 };

/**
 * Retries requests while the model is overloaded, rate-limited or unreachable, or its reply breaks off. Errors after a
 * complete block other than thinking are passed on, because the block may have been used.
 */
export function withRetry(model: Model, options: RetryOptions = {}): Model {
  const { fallback, onRetry, random = Math.random } = options;
  const sleep = options.sleep ?? ((ms, signal) => wait(ms, undefined, { signal }));
  const policy: RetryPolicy = {
    ...DEFAULTS,
    // An explicit number applies to every kind of failure.
    ...(options.maxRetries !== undefined && { maxUnreachableRetries: options.maxRetries }),
    ...options,
  };
  const { names = [], after = 3 } = fallback ?? {};

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const { signal } = request;
    let attempt = { model, request };
    let nextName = names.indexOf(request.model) + 1;
    /** How many attempts had failed when the current model was first used. */
    let earlierFailures = 0;
    for (let failures = 1; ; failures++) {
      const collector = new MessageCollector();
      let hasBegun = false;
      let isUsed = false;
      try {
        for await (const event of attempt.model.stream(attempt.request)) {
          hasBegun = true;
          const block = collector.add(event);
          isUsed ||= block !== undefined && !isThinking(block);
          yield event;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (hasBegun) yield { type: 'reply_broken' };
        if (isUsed || !(error instanceof ModelError)) throw error;
        const name = names[nextName];
        const fallsBack = name !== undefined && { fallbackAfter: earlierFailures + after };
        const step = retryStep(error, failures, { ...policy, ...fallsBack }, random());
        if (step.kind === 'give-up') throw error;
        const failedModel = attempt.request.model;
        if (step.kind === 'fallback' && fallback && name !== undefined) {
          attempt = { model: fallback.model, request: { ...request, model: name } };
          nextName++;
          earlierFailures = failures;
        }
        const delayMs = step.kind === 'retry' ? step.delayMs : 0;
        const { maxRetries } = step.kind === 'retry' ? step : policy;
        const { kind } = step;
        onRetry?.({ error, failures, maxRetries, delayMs, failedModel, model: attempt.request.model, kind });
        // An abort rejects with the signal's own reason.
        if (delayMs > 0) await sleep(delayMs, signal).finally(() => signal.throwIfAborted());
      }
    }
  }
  const canSearch = (name: string) => model.canSearch?.(name) ?? false;
  return { name: model.name, limits: model.limits, canSearch, stream };
}

type RetryPolicy = {
  /** Retries of one request, including those with the fallback. */
  readonly maxRetries: number;
  /** Retries of one request that gets no HTTP response. */
  readonly maxUnreachableRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The number of failures after which the fallback is used, if there is one. */
  readonly fallbackAfter?: number;
};

type RetryStep =
  | { readonly kind: 'give-up' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly maxRetries: number }
  | { readonly kind: 'fallback' };

/** Decides what follows the n-th failure (from 1) of one request; `random` is in [0, 1). */
export function retryStep(
  error: ModelError,
  failures: number,
  policy: RetryPolicy,
  random: number,
): RetryStep {
  const { fallbackAfter: after } = policy;
  // Waiting does not help against a fault of the model itself, but another model may work.
  if (after !== undefined && isFaultOfModel(error)) return { kind: 'fallback' };
  if (!isTransient(error)) return { kind: 'give-up' };
  const maxRetries = retryLimit(error, policy);
  const fallbackAfter = Math.min(after ?? Number.POSITIVE_INFINITY, maxRetries + 1);
  if (after !== undefined && failures >= fallbackAfter) return { kind: 'fallback' };
  if (failures > maxRetries) return { kind: 'give-up' };
  const { retryAfterMs } = error;
  // A shorter wait than the endpoint asked for would only be rejected again.
  if (retryAfterMs !== undefined && retryAfterMs > policy.maxDelayMs) {
    return { kind: after === undefined ? 'give-up' : 'fallback' };
  }
  const backoff = backoffMs({ firstMs: policy.firstDelayMs, maxMs: policy.maxDelayMs }, failures);
  const delayMs = Math.round(Math.max(retryAfterMs ?? 0, jitter(backoff, random)));
  return { kind: 'retry', delayMs, maxRetries };
}

function retryLimit(error: ModelError, { maxRetries, maxUnreachableRetries }: RetryPolicy): number {
  const limit = error.code === 'unreachable' ? maxUnreachableRetries : maxRetries;
  return Math.min(limit, error.retryLimit ?? Number.POSITIVE_INFINITY);
}

/** Whether the model does not exist, or its request made the endpoint fail. */
function isFaultOfModel({ code, status = 0 }: ModelError): boolean {
  return status === 404 || (code === 'failed' && status >= 500);
}

const TRANSIENT: ReadonlySet<ModelErrorCode> = new Set([
  'overloaded',
  'rate-limited',
  'unreachable',
  'broken-reply',
]);

/** Whether the same request may succeed later. */
export function isTransient({ code, status }: ModelError): boolean {
  if (TRANSIENT.has(code)) return true;
  return code === 'failed' && status !== undefined && status >= 500;
}
