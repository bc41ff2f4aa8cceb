import { isRecord } from '../../base/is-record.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { HostError, type HostErrorCode } from '../connection/host-error.ts';
import type { MissingVariable } from '../transports/stdio/missing-variable.ts';

/** Why a server did not come, or was lost, and what that means for the next dial. */
export type Trouble = {
  readonly code: HostErrorCode;
  readonly message: string;
  /** `never` if dialling again cannot help, `seldom` if it rarely does, `at-once` if it helps without waiting. */
  readonly retry: 'never' | 'seldom' | 'later' | 'at-once';
  /** When the server said it may be asked again. */
  readonly retryAfterMs?: number;
  /** The environment variable that its process says it misses. */
  readonly missingVariable?: MissingVariable;
};

export function troubleOf(failure: unknown): Trouble {
  if (!(failure instanceof HostError)) {
    return { code: 'unreachable', message: messageOf(failure), retry: 'later' };
  }
  const { code, message, retryAfterMs, missingVariable } = failure;
  return {
    code,
    message,
    retry: cannotBeRun(failure) ? 'never' : (RETRIES[code] ?? 'later'),
    ...(missingVariable && { missingVariable }),
    ...(retryAfterMs !== undefined && { retryAfterMs: Math.min(retryAfterMs, LONGEST_PAUSE_MS) }),
  };
}

/** Whoever asks for more is asked again all the same. */
const LONGEST_PAUSE_MS = 300_000;

/** Whether a failed request says that the whole server wants credentials; one it merely forbids says nothing of the others. */
export function isUnauthorized(failure: unknown): boolean {
  if (!(failure instanceof HostError) || failure.code !== 'unauthorized') return false;
  return !isRecord(failure.cause) || failure.cause.status !== 403;
}

const RETRIES: Partial<Record<HostErrorCode, Trouble['retry']>> = {
  'bad-config': 'never',
  unauthorized: 'never',
  'spawn-failed': 'seldom',
  'session-lost': 'at-once',
};

/** A command that is not there, or no program, will not become one. */
function cannotBeRun({ code, cause }: HostError): boolean {
  return code === 'spawn-failed' && isRecord(cause) && (cause.code === 'ENOENT' || cause.code === 'EACCES');
}
