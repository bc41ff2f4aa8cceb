import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, startTimer } from '../../base/async/timers.ts';

import { RequestAbortError } from '../../protocol/sdk-error.ts';
import type { Connection, RequestOptions } from '../connection/connection.ts';
import { HostError } from '../errors/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import type { TimeLimits } from './time-limits.ts';
import { UrlVisits } from './url-visits.ts';

/** A request to a server whose connection may be lost, or still be made, while the request is pending. */
export type RetryingRequest<T> = Pick<RequestOptions, 'onProgress' | 'meta'> & {
  readonly server: string;
  /** What timeout messages name, such as `tool "search"` or `reading file:///a`. */
  readonly subject: string;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
  send(connection: Connection, options: RequestOptions & { readonly timeoutMs: number }): Promise<T>;
  /** Whether sending the request twice does no harm; asked after an attempt that may have run. */
  mayRepeat(): boolean;
  /** Runs before each attempt; throws if the request must not be sent. `lost` is an attempt that may have run. */
  beforeSend?(lost: HostError | undefined): void;
  /** The error to report for an attempt that may have run and is not repeated. */
  onLost?(failure: HostError): HostError;
};

/**
 * Sends a request, all within its time limit: waits for a connection that is being made, and sends the request again
 * after a failure where that is safe. Rejects with a `HostError`, an `AbortError` or the server's JSON-RPC error.
 */
export async function retryingRequest<T>(target: CallTarget, request: RetryingRequest<T>): Promise<T> {
  const { limits, signal } = request;
  const deadline = performance.now() + limits.totalMs;
  let sessionsLost = 0;
  let lost: HostError | undefined;
  let signIns = 0;
  const visits = new UrlVisits();
  for (let attempt = 1; ; attempt++) {
    const connection = target.live() ?? (await connectedBy(deadline, target, request));
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0) throw timeoutError(request, 'total', ' before the request could be sent');
    request.beforeSend?.(lost);
    try {
      const result = await request.send(connection, attemptOptions(request, timeoutMs));
      target.report(connection);
      return result;
    } catch (failure) {
      if (signIns < MAX_SIGN_INS && (await target.signInAfter?.(failure, signal))) {
        signIns++;
        continue;
      }
      if (await visits.after(failure, connection, signal)) continue;
      target.report(connection, failure);
      if (!(failure instanceof HostError)) throw failure;
      if (failure.code === 'session-lost') sessionsLost++;
      const { isTerminal, hasRun, retryAfterMs } = failure;
      const step = afterFailure({
        attempt,
        isTerminal,
        hasRun,
        retryAfterMs,
        remainingMs: deadline - performance.now(),
        isReconnecting: !target.isCurrent(connection),
        isSessionLostAgain: failure.code === 'session-lost' && sessionsLost > 1,
        mayRepeat: request.mayRepeat(),
      });
      if (step.kind === 'give-up') {
        if (step.mayHaveRun) throw request.onLost?.(failure) ?? failure;
        if (failure.code !== 'timeout') throw failure;
        // Timers may fire a few milliseconds early.
        if (performance.now() >= deadline - 5) throw timeoutError(request, 'total', '', failure);
        throw limits.idleMs === undefined ? failure : timeoutError(request, 'idle', '', failure);
      }
      if (hasRun === 'maybe') lost = failure;
      await pause(step.afterMs, signal);
    }
  }
}

/** Names the setting that limited the request: raising another one would change nothing. */
export function timeoutError(
  { server, subject, limits }: Pick<RetryingRequest<unknown>, 'server' | 'subject' | 'limits'>,
  kind: 'total' | 'idle',
  stage = '',
  cause?: HostError,
): HostError {
  const { totalMs, totalBy, idleMs = totalMs, idleBy = totalBy } = limits;
  const [ms, by] = kind === 'total' ? [totalMs, totalBy] : [idleMs, idleBy];
  const time = ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`;
  const what = kind === 'total' ? `timed out after ${time}` : `sent no progress for ${time}`;
  const detail = `${subject} ${what}${stage}; raise ${by} if it may take longer`;
  return new HostError('timeout', server, detail, {
    hasRun: cause ? 'maybe' : 'no',
    ...(cause && { cause }),
  });
}

function attemptOptions(
  { limits, signal, onProgress, meta }: RetryingRequest<unknown>,
  timeoutMs: number,
): RequestOptions & { readonly timeoutMs: number } {
  return {
    timeoutMs,
    ...(limits.idleMs !== undefined && { idleTimeoutMs: limits.idleMs }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(meta && { meta }),
  };
}

async function connectedBy(
  deadline: number,
  target: CallTarget,
  request: RetryingRequest<unknown>,
): Promise<Connection> {
  const over = new AbortController();
  const timer = startTimer(deadline - performance.now(), () => over.abort());
  const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
  try {
    return await waitForConnection(target, signal);
  } catch (failure) {
    if (!over.signal.aborted || request.signal?.aborted) throw failure;
    throw timeoutError(request, 'total', ' while its server was connecting');
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a connection; if the server asked for a short pause, waits for that once. */
export async function waitForConnection(target: CallTarget, signal: AbortSignal): Promise<Connection> {
  try {
    return await target.connect(signal);
  } catch (failure) {
    const pauseMs = failure instanceof HostError ? failure.retryAfterMs : undefined;
    if (pauseMs === undefined || pauseMs > MAX_PAUSE_MS) throw failure;
    await pause(pauseMs, signal);
    return target.connect(signal);
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return;
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (cause) {
    throw new RequestAbortError('The request was aborted', { cause });
  }
}

/** A failed attempt. */
export type FailedAttempt = {
  /** Counted from 1. */
  readonly attempt: number;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
  /** Pause that the server asked for. */
  readonly retryAfterMs?: number | undefined;
  /** The server dropped the session for the second time during this request. */
  readonly isSessionLostAgain?: boolean;
  /** A new connection is being made already, so no pause is needed here. */
  readonly isReconnecting: boolean;
  /** Time left for the request. */
  readonly remainingMs: number;
  readonly mayRepeat: boolean;
};

type NextStep =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'give-up'; readonly mayHaveRun: boolean };

/** Maximum number of sign-ins during one request; the second may be needed for a further scope. */
const MAX_SIGN_INS = 2;
/** Maximum attempts of one request. Three failures close the connection, so the fourth attempt uses a new one. */
const MAX_ATTEMPTS = 4;
/** Longest requested pause that a request waits for; after a longer one there is no second attempt. */
const MAX_PAUSE_MS = 5_000;
const FIRST_PAUSE_MS = 100;

/**
 * Decides whether a failed request is sent again. A request that may have run is repeated at most once, and only if
 * repeating it does no harm; a request that did not reach the server is repeated while there is time left.
 */
export function afterFailure(failed: FailedAttempt): NextStep {
  const { attempt, isTerminal, hasRun, remainingMs, isReconnecting } = failed;
  const mayHaveRun = hasRun === 'maybe';
  const giveUp: NextStep = { kind: 'give-up', mayHaveRun: mayHaveRun && isTerminal };
  if (!isTerminal) return giveUp;
  if (failed.isSessionLostAgain || attempt >= (mayHaveRun ? 2 : MAX_ATTEMPTS)) return giveUp;
  if (mayHaveRun && !failed.mayRepeat) return giveUp;
  const asked = failed.retryAfterMs ?? 0;
  const afterMs = Math.max(
    asked,
    isReconnecting ? 0 : backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }, attempt),
  );
  return asked > MAX_PAUSE_MS || afterMs >= remainingMs ? giveUp : { kind: 'again', afterMs };
}
