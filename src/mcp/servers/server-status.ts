import type { ListedTool } from '../../protocol/mcp.ts';
import type { AuthErrorCode } from '../auth/auth-types.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import type { Prompt } from '../discovery/list-entries.ts';
import type { HostErrorCode } from '../errors/host-error.ts';
import { isFlapping } from './retry-policy.ts';
import { type Handshake, isIdle, type ServerState } from './server-state.ts';

/** Where a server comes from: the configuration, the program's options, or a later call of the program. */
export type ServerOrigin = 'config' | 'sdk' | 'dynamic';

/** One server as the agent sees it; a `waiting` server connects when the agent needs it. */
export type ServerView =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'pending' }
  | ({ readonly kind: 'connected'; readonly connection: Connection } & Offer)
  | { readonly kind: 'needs-auth'; readonly fault: string }
  | { readonly kind: 'failed'; readonly fault: string }
  | { readonly kind: 'disabled' };

/** The tools and prompts of a server. */
export type Offer = { readonly tools: readonly ListedTool[]; readonly prompts: readonly Prompt[] };

/** A server with everything known about it. */
export type Server = {
  readonly entry: ServerEntry;
  readonly origin: ServerOrigin;
  readonly state: ServerView;
};

/** A server with its status, for display. */
export type KnownServer = Server & {
  readonly status: ServerStatus;
  /** Whether the server itself has listed its tools; until then they come from the cache, without annotations. */
  readonly isVerified: boolean;
};

/** The connection and the offer are set while the server is connected. */
export function viewOf(
  state: ServerState,
  connection: Connection | undefined,
  offer: Offer | undefined,
): ServerView {
  switch (state.kind) {
    case 'pending':
    case 'connecting':
      return { kind: isIdle(state) ? 'waiting' : 'pending' };
    case 'connected':
      return connection && offer ? { kind: 'connected', connection, ...offer } : { kind: 'pending' };
    case 'needs-auth':
    case 'failed':
      return { kind: state.kind, fault: state.cause.message };
    case 'disabled':
      return { kind: 'disabled' };
  }
}

/** The status of a server. */
export type ServerStatus = {
  /** `disabled`: turned off, or configured but not allowed to start; `cause` has the reason. */
  readonly state: ServerState['kind'];
  /** When the state was entered, in milliseconds since 1970. */
  readonly since: number;
  /** Connection attempts since the last success, including the current one. */
  readonly attempt: number;
  /** Why the server is not connected, or why the last connection was lost, with a remedy. */
  readonly cause?: {
    readonly code: HostErrorCode;
    readonly message: string;
    /** The message without the name of the server. */
    readonly detail: string;
    /**
     * The environment variable that the process reported missing; `isWithheld` if the host has it but does not pass
     * it on.
     */
    readonly missingVariable?: { readonly name: string; readonly isWithheld: boolean };
    /**
     * The step of connecting that failed: the command cannot be executed, the address cannot be reached, or the TLS
     * handshake failed. Undefined if the server was reached.
     */
    readonly stage?: 'command' | 'address' | 'tls';
    /** Why the authorization failed; undefined for other failures. */
    readonly authCode?: AuthErrorCode;
  };
  /** Time of the next reconnect, in milliseconds since 1970. */
  readonly nextRetryAt?: number;
  /** The last lines of the process's stderr, with secrets masked. */
  readonly stderr: readonly string[];
  readonly era?: 'legacy' | 'modern';
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** Instructions of the server for its users. */
  readonly instructions?: string;
  /** Number of tools. */
  readonly tools?: number;
};

/** The status of a server after its host was closed. */
export function closedStatus({ since, stderr }: ServerStatus): ServerStatus {
  const message = 'The host is closed; create another with createHost()';
  const cause = { code: 'closed' as const, message, detail: message };
  return { state: 'disabled', since, attempt: 0, cause, stderr };
}

/** `stderr` is the current output of the process, if it is running. */
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
        detail: cause.detail,
        ...(cause.missingVariable && { missingVariable: cause.missingVariable }),
        ...(cause.stage && { stage: cause.stage }),
        ...(cause.authCode && { authCode: cause.authCode }),
      },
    }),
    ...(nextRetryAt !== undefined && { nextRetryAt }),
    stderr,
    ...(era && { era }),
    ...(state.kind === 'connected' && introduced(state.handshake)),
  };
}

function introduced({ protocolVersion, serverInfo, instructions, tools }: Handshake) {
  return {
    protocolVersion,
    ...(serverInfo && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
    ...(instructions !== undefined && { instructions }),
    tools,
  };
}

type Failed = Extract<ServerState, { kind: 'failed' }>;

/** `retryAfterMs` is set if the server itself asked for that delay. */
export type UnavailableReason = {
  readonly code: HostErrorCode;
  readonly detail: string;
  readonly retryAfterMs?: number;
};

/** Why a server is not connected and what to do about it; undefined for a connected server. */
export function unavailableReason(state: ServerState, now: number): UnavailableReason | undefined {
  switch (state.kind) {
    case 'connected':
      return undefined;
    case 'disabled':
      return { code: 'disabled', detail: 'the server is disabled; enable it first' };
    case 'needs-auth':
      return {
        code: 'unauthorized',
        detail: `${state.cause.detail}; if the server is still not connected afterwards, reconnect it`,
      };
    case 'failed': {
      const flapping = isFlapping(state.past)
        ? 'its connections repeatedly fail shortly after they are established; last failure: '
        : '';
      return {
        code: state.cause.code,
        detail: `${flapping}${state.cause.detail}; ${describeNextRetry(state, now)}`,
        ...requestedPause(state, now),
      };
    }
    case 'pending':
    case 'connecting': {
      const detail = isIdle(state) ? 'the server has not been started yet' : 'the server is still connecting';
      return {
        code: 'timeout',
        detail: state.cause ? `${detail}; last failure: ${state.cause.detail}` : detail,
      };
    }
  }
}

/** Calls wait for a delay that the server asked for, but not for a longer backoff. */
function requestedPause(
  { since, cause, nextRetryAt }: Failed,
  now: number,
): Pick<UnavailableReason, 'retryAfterMs'> {
  if (cause.retryAfterMs === undefined || nextRetryAt === undefined) return {};
  if (nextRetryAt > since + cause.retryAfterMs) return {};
  return { retryAfterMs: Math.max(0, nextRetryAt - now) };
}

function describeNextRetry({ nextRetryAt, cause }: Failed, now: number): string {
  if (cause.code === 'bad-config') return 'correct its entry, or fix the cause and reconnect the server';
  if (nextRetryAt === undefined) return 'reconnect the server to try again';
  return `retrying in ${Math.max(1, Math.ceil((nextRetryAt - now) / 1000))} s`;
}
