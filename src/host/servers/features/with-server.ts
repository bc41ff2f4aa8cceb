import { setTimeout as delay } from 'node:timers/promises';
import { startTimer } from '../../../base/timer.ts';
import { AbortError } from '../../../protocol/sdk-error.ts';
import type { Connection } from '../../connect/connection.ts';
import { HostError } from '../../connect/host-error.ts';
import { afterFailure, LONGEST_PAUSE_MS, type NextStep } from '../call/after-failure.ts';
import type { CallTarget } from '../call-target.ts';
import type { Asking, Left } from './asking.ts';
import { lateFault } from './feature-fault.ts';

/**
 * Asks on a live connection: waits for one that is being made, and asks once more if the first was lost meanwhile, all
 * within the limit. Rejects as a call does.
 */
export async function withServer<T>(
  target: CallTarget,
  asking: Asking,
  use: (connection: Connection, left: Left) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + asking.limits.totalMs;
  let wasForgotten = false;
  for (let attempt = 1; ; attempt++) {
    const connection = target.live() ?? (await reach(target, asking, deadline));
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0) throw lateFault(asking, ' before it could be sent');
    try {
      const { signal, limits } = asking;
      const idle = limits.idleMs === undefined ? {} : { idleTimeoutMs: limits.idleMs };
      const result = await use(connection, { timeoutMs, ...idle, ...(signal && { signal }) });
      target.report(connection);
      return result;
    } catch (failure) {
      target.report(connection, failure);
      const isForgotten = failure instanceof HostError && failure.code === 'session-lost';
      const step = nextStep(failure, {
        attempt,
        remainingMs: deadline - performance.now(),
        isReconnecting: !target.holds(connection),
        isForgottenAgain: isForgotten && wasForgotten,
      });
      wasForgotten ||= isForgotten;
      if (step.kind === 'give-up') throw failure;
      await pause(step.afterMs, asking.signal);
    }
  }
}

type Facts = Pick<
  Parameters<typeof afterFailure>[0],
  'attempt' | 'remainingMs' | 'isReconnecting' | 'isForgottenAgain'
>;

function nextStep(failure: unknown, facts: Facts): NextStep {
  if (!(failure instanceof HostError)) return { kind: 'give-up', mayHaveRun: false };
  const { isTerminal, hasRun, retryAfterMs } = failure;
  return afterFailure({ ...facts, isTerminal, hasRun, retryAfterMs, mayRepeat: true });
}

/** A connection, within the limit; one pause that the server asked for is kept to, if it is short. */
async function reach(target: CallTarget, asking: Asking, deadline: number): Promise<Connection> {
  const late = new AbortController();
  const timer = startTimer(deadline - performance.now(), () => late.abort());
  const signal = asking.signal ? AbortSignal.any([asking.signal, late.signal]) : late.signal;
  try {
    return await target.connected(signal).catch(async (failure: unknown) => {
      const pauseMs = failure instanceof HostError ? failure.retryAfterMs : undefined;
      if (pauseMs === undefined || pauseMs > LONGEST_PAUSE_MS) throw failure;
      await pause(pauseMs, signal);
      return target.connected(signal);
    });
  } catch (failure) {
    const isLate = late.signal.aborted && asking.signal?.aborted !== true;
    throw isLate ? lateFault(asking, ' while its server was being dialled') : failure;
  } finally {
    clearTimeout(timer);
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return;
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (cause) {
    throw new AbortError('The request was aborted', { cause });
  }
}
