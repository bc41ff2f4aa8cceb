import type { CallToolResult } from '../../protocol/mcp.ts';
import type { CallOptions } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import { isTrustedEntry } from '../connection/world.ts';
import type { CallTarget } from '../servers/call-target.ts';
import { afterFailure, type FailedAttempt, mayRepeat, type NextStep } from './after-failure.ts';
import { lateFault, lostFault, type Refusal, unsentFault } from './call-fault.ts';
import type { CallOutcome, Journal } from './journal.ts';
import { pause, reach } from './reach.ts';
import type { TimeLimits } from './time-limits.ts';

/** One call as its user wants it. */
export type ToolCall = {
  readonly server: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: CallOptions['onProgress'] | undefined;
  readonly meta?: Record<string, unknown> | undefined;
  /** Why it must not be sent as things are now, if so, in words or as the error the call ends with: asked before it is sent, each time. */
  readonly whyNot?: (() => string | Refusal | undefined) | undefined;
};

/**
 * Calls a tool on a connection that may be lost meanwhile: waits for one that is being made, and makes the call again
 * where that is safe, all within its limit. Rejects as a connection's call does, with what may have run said in words.
 */
export async function callTool(
  target: CallTarget,
  call: ToolCall,
  journal: Journal,
): Promise<Partial<CallToolResult>> {
  const { signal } = call;
  const deadline = performance.now() + call.limits.totalMs;
  const record = journal.begin(call.server, call.tool);
  let outcome: CallOutcome = 'failed';
  let wasForgotten = false;
  let lost: HostError | undefined;
  const late = () => lateFault(call, 'total', ' while its server was being dialled');
  try {
    for (let attempt = 1; ; attempt++) {
      const connection = target.live() ?? (await reach(target, { signal, deadline, late }));
      if (performance.now() >= deadline) throw lateFault(call, 'total', ' before it could be sent');
      const why = call.whyNot?.();
      if (why !== undefined) {
        outcome = lost ? 'lost' : 'failed';
        throw unsentFault(call, why, lost);
      }
      journal.sent(record);
      try {
        const result = await connection.callTool(call.tool, call.args, optionsOf(call, deadline));
        target.report(connection);
        outcome = 'answered';
        return result;
      } catch (failure) {
        target.report(connection, failure);
        const isForgotten = failure instanceof HostError && failure.code === 'session-lost';
        const step = nextStep(failure, target, call, {
          attempt,
          remainingMs: deadline - performance.now(),
          isReconnecting: !target.holds(connection),
          isForgottenAgain: isForgotten && wasForgotten,
        });
        wasForgotten ||= isForgotten;
        if (step.kind === 'give-up') {
          outcome = outcomeOf(failure, step.mayHaveRun);
          throw told(failure, call, deadline, step);
        }
        if (failure instanceof HostError && failure.hasRun === 'maybe') lost = failure;
        await pause(step.afterMs, signal);
      }
    }
  } catch (failure) {
    if (signal?.aborted) outcome = 'aborted';
    throw failure;
  } finally {
    journal.end(record, outcome);
  }
}

function nextStep(
  failure: unknown,
  target: CallTarget,
  { tool }: ToolCall,
  facts: Pick<FailedAttempt, 'attempt' | 'remainingMs' | 'isReconnecting' | 'isForgottenAgain'>,
): NextStep {
  if (!(failure instanceof HostError)) return { kind: 'give-up', mayHaveRun: false };
  const { isTerminal, hasRun, retryAfterMs } = failure;
  const trust = isTrustedEntry(target.entry) ? 'trusted' : 'untrusted';
  const mayBeRepeated = mayRepeat(target.tool(tool)?.annotations, trust);
  return afterFailure({ ...facts, isTerminal, hasRun, retryAfterMs, mayRepeat: mayBeRepeated });
}

function optionsOf({ limits, signal, onProgress, meta }: ToolCall, deadline: number): CallOptions {
  const { idleMs } = limits;
  return {
    timeoutMs: deadline - performance.now(),
    ...(idleMs !== undefined && { idleTimeoutMs: idleMs }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(meta && { meta }),
  };
}

/** A failure as whoever called has to hear it. */
function told(failure: unknown, call: ToolCall, deadline: number, { mayHaveRun }: GiveUp): unknown {
  if (!(failure instanceof HostError)) return failure;
  if (mayHaveRun) return lostFault(failure, call);
  if (failure.code !== 'timeout') return failure;
  // Timers may be early by a moment.
  return lateFault(call, performance.now() >= deadline - 5 ? 'total' : 'idle', '', failure);
}

type GiveUp = Extract<NextStep, { kind: 'give-up' }>;

function outcomeOf(failure: unknown, mayHaveRun: boolean): CallOutcome {
  if (mayHaveRun) return 'lost';
  return failure instanceof HostError && failure.code === 'timeout' ? 'timed-out' : 'failed';
}
