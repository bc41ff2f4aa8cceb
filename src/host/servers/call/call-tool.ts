import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '../../../protocol/mcp.ts';
import { AbortError } from '../../../protocol/sdk-error.ts';
import type { CallOptions, Connection } from '../../connect/connection.ts';
import { HostError } from '../../connect/host-error.ts';
import { isTrustedEntry } from '../../connect/world.ts';
import type { CallTarget } from '../call-target.ts';
import { afterFailure, LONGEST_PAUSE_MS, mayRepeat, type NextStep } from './after-failure.ts';
import type { CallOutcome, Journal } from './journal.ts';
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
};

/**
 * Calls a tool on a connection that may be lost meanwhile: waits for one that is being made, and makes the call again
 * where that is safe. Rejects as a connection's call does, with what may have run said in words.
 */
export async function callTool(
  target: CallTarget,
  call: ToolCall,
  journal: Journal,
): Promise<Partial<CallToolResult>> {
  const { signal } = call;
  const since = performance.now();
  const record = journal.begin(call.server, call.tool);
  let outcome: CallOutcome = 'failed';
  try {
    for (let attempt = 1; ; attempt++) {
      const connection = await reach(target, call, performance.now() - since);
      const elapsedMs = attempt === 1 ? 0 : performance.now() - since;
      journal.sent(record);
      try {
        const result = await connection.callTool(call.tool, call.args, optionsOf(call, elapsedMs));
        target.report(connection);
        outcome = 'answered';
        return result;
      } catch (failure) {
        target.report(connection, failure);
        const step = nextStep(failure, target, call, connection, attempt, performance.now() - since);
        if (step.kind === 'give-up') {
          outcome = outcomeOf(failure, step.mayHaveRun);
          throw step.mayHaveRun ? warned(failure as HostError, call) : failure;
        }
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

/** A connection; one pause that the server asked for is kept to, if it is short. */
async function reach(
  target: CallTarget,
  { signal, limits }: ToolCall,
  elapsedMs: number,
): Promise<Connection> {
  try {
    return await target.connected(signal);
  } catch (failure) {
    const pauseMs = failure instanceof HostError ? failure.retryAfterMs : undefined;
    if (pauseMs === undefined || pauseMs > LONGEST_PAUSE_MS || pauseMs >= limits.totalMs - elapsedMs)
      throw failure;
    await pause(pauseMs, signal);
    return target.connected(signal);
  }
}

function nextStep(
  failure: unknown,
  target: CallTarget,
  { tool, limits }: ToolCall,
  connection: Connection,
  attempt: number,
  elapsedMs: number,
): NextStep {
  if (!(failure instanceof HostError)) return { kind: 'give-up', mayHaveRun: false };
  const trust = isTrustedEntry(target.entry) ? 'trusted' : 'untrusted';
  return afterFailure({
    attempt,
    isTerminal: failure.isTerminal,
    hasRun: failure.hasRun,
    retryAfterMs: failure.retryAfterMs,
    isReconnecting: !target.holds(connection),
    remainingMs: limits.totalMs - elapsedMs,
    mayRepeat: mayRepeat(target.tool(tool)?.annotations, trust),
  });
}

function optionsOf({ limits, signal, onProgress, meta }: ToolCall, elapsedMs: number): CallOptions {
  const { totalMs, idleMs } = limits;
  return {
    timeoutMs: totalMs - elapsedMs,
    ...(idleMs !== undefined && { idleTimeoutMs: idleMs }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(meta && { meta }),
  };
}

function outcomeOf(failure: unknown, mayHaveRun: boolean): CallOutcome {
  if (mayHaveRun) return 'lost';
  return failure instanceof HostError && failure.code === 'timeout' ? 'timed-out' : 'failed';
}

function warned(failure: HostError, { server, tool }: ToolCall): HostError {
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

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return;
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (cause) {
    throw new AbortError('The request was aborted', { cause });
  }
}
