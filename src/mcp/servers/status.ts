import type { HostErrorCode } from '../connection/host-error.ts';
import type { Introduction, ServerState } from './state.ts';

/** The status of a server. */
export type ServerStatus = {
  /** `disabled`: somebody turned it off, or it is configured and may not be started; then `cause` says why. */
  readonly state: ServerState['kind'];
  /** When it came to this, in milliseconds since 1970. */
  readonly since: number;
  /** Dials since it was last connected, the present one included. */
  readonly attempt: number;
  /** Why it is not connected, or what it was lost of before: in words that say what to do. */
  readonly cause?: {
    readonly code: HostErrorCode;
    readonly message: string;
    /** The environment variable that its process says it misses; `isWithheld` if the host has it. */
    readonly missingVariable?: { readonly name: string; readonly isWithheld: boolean };
  };
  /** When it is dialled again, in milliseconds since 1970. */
  readonly nextRetryAt?: number;
  /** The last lines its process wrote to stderr, without secrets. */
  readonly stderr: readonly string[];
  readonly era?: 'legacy' | 'modern';
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** What it wants those who use it to know. */
  readonly instructions?: string;
  /** How many tools it offers. */
  readonly tools?: number;
};

/** What is left of a server when its host is closed. */
export function closedStatus({ since, stderr }: ServerStatus): ServerStatus {
  const cause = { code: 'closed' as const, message: 'The host is closed; make another with createHost()' };
  return { state: 'disabled', since, attempt: 0, cause, stderr };
}

/** `stderr` is what its process says now, if it runs. */
export function statusOf(state: ServerState, stderr: readonly string[] = state.stderr): ServerStatus {
  const { kind, since, attempt, era, cause } = state;
  const nextRetryAt = state.kind === 'failed' ? state.nextRetryAt : undefined;
  return {
    state: kind,
    since,
    attempt,
    ...(cause && {
      cause: {
        code: cause.code,
        message: cause.message,
        ...(cause.missingVariable && { missingVariable: cause.missingVariable }),
      },
    }),
    ...(nextRetryAt !== undefined && { nextRetryAt }),
    stderr,
    ...(era && { era }),
    ...(state.kind === 'connected' && introduced(state.said)),
  };
}

function introduced({ protocolVersion, serverInfo, instructions, tools }: Introduction) {
  return {
    protocolVersion,
    ...(serverInfo && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
    ...(instructions !== undefined && { instructions }),
    tools,
  };
}
