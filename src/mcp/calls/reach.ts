import { setTimeout as delay } from 'node:timers/promises';
import { startTimer } from '../../base/timer.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import { LONGEST_PAUSE_MS } from './after-failure.ts';

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
