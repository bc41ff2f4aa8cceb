import { setTimeout as delay } from 'node:timers/promises';
import { startTimer } from '../../base/async/timers.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../errors/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';

type Reach = {
  readonly signal: AbortSignal | undefined;
  /** By the clock of `performance`. */
  readonly deadline: number;
  /** What is told if the server did not come in time. */
  late(): HostError;
};

/** A connection by the deadline, as `dialled` gives it. */
export async function reach(target: CallTarget, { signal: own, deadline, late }: Reach): Promise<Connection> {
  const over = new AbortController();
  const timer = startTimer(deadline - performance.now(), () => over.abort());
  const signal = own ? AbortSignal.any([own, over.signal]) : over.signal;
  try {
    return await dialled(target, signal);
  } catch (failure) {
    throw over.signal.aborted && own?.aborted !== true ? late() : failure;
  } finally {
    clearTimeout(timer);
  }
}

/** A connection; one pause that the server asked for is kept to, if it is short. */
export async function dialled(target: CallTarget, signal: AbortSignal): Promise<Connection> {
  try {
    return await target.connected(signal);
  } catch (failure) {
    const pauseMs = failure instanceof HostError ? failure.retryAfterMs : undefined;
    if (pauseMs === undefined || pauseMs > LONGEST_PAUSE_MS) throw failure;
    await pause(pauseMs, signal);
    return target.connected(signal);
  }
}

/** Waits before something is asked again. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return;
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (cause) {
    throw new AbortError('The request was aborted', { cause });
  }
}

/** What is known of an attempt that failed. */
export type FailedAttempt = {
  /** Counted from 1. */
  readonly attempt: number;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
  /** How long the server asked to be left alone. */
  readonly retryAfterMs?: number | undefined;
  /** The server has forgotten our session for the second time in this call. */
  readonly isForgottenAgain?: boolean;
  /** A new connection is being made already: there is no need to wait for it here. */
  readonly isReconnecting: boolean;
  /** What is left of the call's time. */
  readonly remainingMs: number;
  readonly mayRepeat: boolean;
};

export type NextStep =
  | { readonly kind: 'again'; readonly afterMs: number }
  /** `mayHaveRun` is what whoever called has to be told. */
  | { readonly kind: 'give-up'; readonly mayHaveRun: boolean };

/** Three failures close a connection; the one attempt more is made on a new one. */
const MOST_ATTEMPTS = 4;
/** Whoever asks to be left alone for longer than this gets no second try within the call. */
const LONGEST_PAUSE_MS = 5_000;
const FIRST_PAUSE_MS = 100;

/**
 * A call that may have run is made again only if that does no harm, and once; one that did not reach the server is
 * made again as long as there is time and hope.
 */
export function afterFailure(failed: FailedAttempt): NextStep {
  const { attempt, isTerminal, hasRun, remainingMs, isReconnecting } = failed;
  const mayHaveRun = hasRun === 'maybe';
  const giveUp: NextStep = { kind: 'give-up', mayHaveRun: mayHaveRun && isTerminal };
  if (!isTerminal) return giveUp;
  if (failed.isForgottenAgain || attempt >= (mayHaveRun ? 2 : MOST_ATTEMPTS)) return giveUp;
  if (mayHaveRun && !failed.mayRepeat) return giveUp;
  const asked = failed.retryAfterMs ?? 0;
  const afterMs = Math.max(asked, isReconnecting ? 0 : FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return asked > LONGEST_PAUSE_MS || afterMs >= remainingMs ? giveUp : { kind: 'again', afterMs };
}

/** What a server says of its own tools counts only if somebody trusts it. */
export function mayRepeat(annotations: ToolAnnotations | undefined, trust: 'trusted' | 'untrusted'): boolean {
  return trust === 'trusted' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}
