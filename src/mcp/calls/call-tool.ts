import type { CallToolResult, ToolAnnotations } from '../../protocol/mcp.ts';
import { isTrustedEntry } from '../connection/connect-context.ts';
import type { RequestOptions } from '../connection/connection.ts';
import { HostError, type HostErrorCode } from '../errors/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import type { CallOutcome, Journal } from './journal.ts';
import { retryingRequest } from './retrying-request.ts';
import { type LimitSources, timeLimits } from './time-limits.ts';

/** One call of a server's tool. */
export type ServerCall = {
  readonly server: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: RequestOptions['onProgress'] | undefined;
  readonly meta?: Record<string, unknown> | undefined;
  /** Asked before each attempt: why the call must not be sent, as text or as the error the call ends with. */
  readonly refusal?: (() => string | CallRefusal | undefined) | undefined;
};

/** Why a call is not sent: code and detail of its error. */
export type CallRefusal = { readonly code: HostErrorCode; readonly detail: string };

/**
 * Calls a tool within the time limits that the call, the server's entry and the host set, and journals the call.
 * Rejects as `retryingRequest` does; the error says whether the call may have run.
 */
export async function callTool(
  target: CallTarget,
  call: ServerCall,
  journal: Journal,
  host: LimitSources['host'] = {},
): Promise<Partial<CallToolResult>> {
  const { server, tool, args, timeoutMs, signal, onProgress, meta } = call;
  if (!target.isIncluded(tool)) {
    const detail = `its entry excludes the tool ${JSON.stringify(tool)}; change "includeTools" or "excludeTools" to use it`;
    throw new HostError('excluded', server, detail, { hasRun: 'no' });
  }
  const limits = timeLimits(tool, {
    call: { timeoutMs, hasProgressListener: onProgress !== undefined },
    entry: target.entry,
    host,
  });
  const record = journal.begin(server, tool);
  let outcome: CallOutcome = 'failed';
  try {
    const result = await retryingRequest(target, {
      server,
      subject: `tool "${tool}"`,
      limits,
      signal,
      ...(onProgress && { onProgress }),
      ...(meta && { meta }),
      mayRepeat: () => mayRepeat(target.tool(tool)?.annotations, isTrustedEntry(target.entry)),
      beforeSend(lost) {
        const why = call.refusal?.();
        if (why === undefined) return journal.sent(record);
        if (lost) outcome = 'lost';
        throw unsentError(server, why, lost);
      },
      send: (connection, options) => {
        const { execution } = target.tool(tool) ?? {};
        return connection.callTool(tool, args, { ...options, taskSupport: execution?.taskSupport });
      },
      onLost(failure) {
        outcome = 'lost';
        return lostError(failure, tool);
      },
    });
    outcome = 'answered';
    return result;
  } catch (failure) {
    if (signal?.aborted) outcome = 'aborted';
    else if (failure instanceof HostError && failure.code === 'timeout' && failure.hasRun === 'maybe')
      outcome = 'timed-out';
    throw failure;
  } finally {
    journal.end(record, outcome);
  }
}

/** Annotations are the server's own claims, so they count only for a trusted server. */
export function mayRepeat(annotations: ToolAnnotations | undefined, isTrusted: boolean): boolean {
  return isTrusted && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}

/** The connection was lost after the request was sent, so the call may have run. */
function lostError(failure: HostError, tool: string): HostError {
  const { code, server, detail, isTerminal, hasRun, retryAfterMs } = failure;
  const text = `the connection was lost during "${tool}" (${detail}); the call may have run, so it was not repeated: check its effect before you repeat it`;
  return new HostError(code, server, text, {
    cause: failure,
    isTerminal,
    hasRun,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The call is refused before it is sent; `lost` is an earlier attempt that may have run. */
function unsentError(server: string, why: string | CallRefusal, lost: HostError | undefined): HostError {
  const { code, detail } = typeof why === 'string' ? { code: 'unknown-tool' as const, detail: why } : why;
  if (lost) return new HostError(code, server, `${detail}; ${MAY_HAVE_RUN}`, { cause: lost });
  const rest = typeof why === 'string' ? '; the call was not sent, so call the tool again' : '';
  return new HostError(code, server, detail + rest, { hasRun: 'no' });
}

const MAY_HAVE_RUN =
  'the connection was lost during an earlier attempt, so the call may have run and was not sent again: check its effect before you repeat it';
