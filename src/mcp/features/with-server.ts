import { afterFailure, type NextStep } from '../calls/after-failure.ts';
import { pause, reach } from '../calls/reach.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
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
  const late = () => lateFault(asking, ' while its server was being dialled');
  for (let attempt = 1; ; attempt++) {
    const connection = target.live() ?? (await reach(target, { signal: asking.signal, deadline, late }));
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
