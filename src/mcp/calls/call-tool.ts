import type { CallToolResult } from '../../protocol/mcp.ts';
import { isTrustedEntry } from '../connection/connect-context.ts';
import type { CallOptions } from '../connection/connection.ts';
import { HostError, type HostErrorCode } from '../errors/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import type { CallOutcome, Journal } from './journal.ts';
import {
  afterFailure,
  type FailedAttempt,
  mayRepeat,
  type NextStep,
  pause,
  reach,
} from './retrying-request.ts';
import { type LimitSources, type TimeLimits, timeLimits } from './time-limits.ts';

/** A call whose limits are still to be found. */
type ServerCall = Omit<ToolCall, 'limits'> & { readonly timeoutMs?: number | undefined };

/** Calls a tool within the limits that its call, its server's entry and the host set; one that the entry leaves out is not called. */
export async function callServer(
  target: CallTarget,
  { timeoutMs, ...call }: ServerCall,
  journal: Journal,
  host: LimitSources['host'] = {},
): Promise<Partial<CallToolResult>> {
  if (!target.isChosen(call.tool)) {
    const fault = `its entry leaves out the tool ${JSON.stringify(call.tool)}; change "includeTools" or "excludeTools" to use it`;
    throw new HostError('excluded', call.server, fault, { hasRun: 'no' });
  }
  const limits = timeLimits(call.tool, {
    call: { timeoutMs, hearsProgress: call.onProgress !== undefined },
    entry: target.entry,
    host,
  });
  return callTool(target, { ...call, limits }, journal);
}

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

type Called = { readonly server: string; readonly tool: string; readonly limits: TimeLimits };

/** The time is up; `stage` says where the call stood. The setting that was met is named: raising another would change nothing. */
function lateFault(
  { server, tool, limits }: Called,
  kind: 'total' | 'idle',
  stage: string,
  cause?: HostError,
): HostError {
  const { totalMs, totalBy, idleMs = totalMs, idleBy = totalBy } = limits;
  const [ms, by] = kind === 'total' ? [totalMs, totalBy] : [idleMs, idleBy];
  const what = kind === 'total' ? 'timed out after' : 'gave no sign of life for';
  const fault = `tool "${tool}" ${what} ${sayTime(ms)}${stage}; raise ${by} if it may take longer`;
  return new HostError('timeout', server, fault, { hasRun: cause ? 'maybe' : 'no', ...(cause && { cause }) });
}

/** The connection is gone, and nobody knows whether the server did what it was asked. */
function lostFault(failure: HostError, { server, tool }: Called): HostError {
  const { code, isTerminal, hasRun, retryAfterMs } = failure;
  const why = failure.message.replace(`MCP server "${server}": `, '');
  const fault = `the connection was lost during "${tool}" (${why}); the call may have run, so it was not repeated: see what it did before you call it again`;
  return new HostError(code, server, fault, {
    cause: failure,
    isTerminal,
    hasRun,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Why a call is not sent: the code and the words of its error. */
export type Refusal = { readonly code: HostErrorCode; readonly fault: string };

/** It is not what was decided on any more, so it is not sent; `lost` is the failure of an attempt that may have run. */
function unsentFault({ server }: Called, why: string | Refusal, lost: HostError | undefined): HostError {
  const { code, fault } = typeof why === 'string' ? { code: 'unknown-tool' as const, fault: why } : why;
  if (lost) return new HostError(code, server, `${fault}; ${MAY_HAVE_RUN}`, { cause: lost });
  const rest = typeof why === 'string' ? '; nothing was sent: call it again to have it decided anew' : '';
  return new HostError(code, server, fault + rest, { hasRun: 'no' });
}

const MAY_HAVE_RUN =
  'the connection was lost during the call, which may have run, and it was not sent again: see what it did before you call it again';

function sayTime(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`;
}
