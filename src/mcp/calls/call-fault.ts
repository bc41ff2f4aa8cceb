import { HostError, type HostErrorCode } from '../connection/host-error.ts';
import type { TimeLimits } from './time-limits.ts';

type Called = { readonly server: string; readonly tool: string; readonly limits: TimeLimits };

/** The time is up; `stage` says where the call stood. The setting that was met is named: raising another would change nothing. */
export function lateFault(
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
export function lostFault(failure: HostError, { server, tool }: Called): HostError {
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
export function unsentFault(
  { server }: Called,
  why: string | Refusal,
  lost: HostError | undefined,
): HostError {
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
