import type { Clock } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { AuthError, type AuthErrorCode } from '../auth/auth-types.ts';
import { type ConnectStage, failedStage, MAX_RETRY_AFTER_MS } from '../errors/classify-failure.ts';
import { HostError, type HostErrorCode } from '../errors/host-error.ts';
import type { MissingVariable } from '../transports/stdio/server-environment.ts';
import {
  afterLoss,
  type ConnectionHistory,
  delayAfterFailure,
  isFlapping,
  mayRetry,
  NO_HISTORY,
  type RetryPolicy,
} from './retry-policy.ts';

/** What a server reported about itself when it connected. */
export type Handshake = {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** Instructions of the server for its users. */
  readonly instructions?: string;
  /** Number of tools. */
  readonly tools: number;
};

type Facts = {
  /** When the state was entered, in milliseconds since 1970. */
  readonly since: number;
  /** Connection attempts since the last success, including the current one. */
  readonly attempt: number;
  readonly past: ConnectionHistory;
  /** The last stderr lines of the process at the last failure. */
  readonly stderr: readonly string[];
  /** The protocol era of the last connection. */
  readonly era?: Handshake['era'];
  readonly cause?: ConnectFailure;
};

/** The connection state of one server. */
export type ServerState =
  | (Facts & { readonly kind: 'pending'; readonly awaits: 'request' | 'slot' })
  | (Facts & { readonly kind: 'connecting' })
  | (Facts & { readonly kind: 'connected'; readonly handshake: Handshake })
  | (Facts & { readonly kind: 'needs-auth'; readonly cause: ConnectFailure })
  /** Without `nextRetryAt` the server is reconnected only on request. */
  | (Facts & { readonly kind: 'failed'; readonly cause: ConnectFailure; readonly nextRetryAt?: number })
  | (Facts & { readonly kind: 'disabled' });

/** Events that change the state. */
export type ServerEvent =
  /** A caller needs the server. */
  | { readonly kind: 'requested' }
  /** The user or the program asked for a new connection, regardless of the current state. */
  | { readonly kind: 'reconnect-requested' }
  /** The connect queue started the attempt. */
  | { readonly kind: 'connect-started' }
  | { readonly kind: 'connect-succeeded'; readonly handshake: Handshake }
  | { readonly kind: 'connect-failed'; readonly failure: ConnectFailure; readonly stderr: readonly string[] }
  | { readonly kind: 'connection-lost'; readonly failure: ConnectFailure; readonly stderr: readonly string[] }
  | { readonly kind: 'listed'; readonly tools: number }
  | { readonly kind: 'retry-due' }
  /** The rate limit does not allow the next retry before this time. */
  | { readonly kind: 'postponed'; readonly until: number }
  /** The machine or the network is back, so that failed servers are retried early. */
  | { readonly kind: 'retry-requested' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'enabled' };

/** The current time, a random number in [0, 1) for jitter, and the retry policy. */
export type TransitionContext = {
  readonly now: number;
  readonly random: number;
  readonly retry: RetryPolicy;
};

export function initialState(now: number): ServerState {
  return { kind: 'pending', awaits: 'request', since: now, attempt: 0, past: NO_HISTORY, stderr: [] };
}

/** The state after an event; the same object if the event does not apply. */
export function next(state: ServerState, event: ServerEvent, moment: TransitionContext): ServerState {
  switch (event.kind) {
    case 'requested':
      return isIdle(state) || mayReconnectForCall(state, moment) ? queuedState(state, moment) : state;
    case 'reconnect-requested':
      return queuedState(
        { ...state, attempt: 0, past: { ...NO_HISTORY, hasConnected: state.past.hasConnected } },
        moment,
      );
    case 'enabled':
      return state.kind === 'disabled' ? queuedState(state, moment) : state;
    case 'retry-due':
      return state.kind === 'failed' && state.nextRetryAt !== undefined ? queuedState(state, moment) : state;
    case 'postponed':
      if (state.kind !== 'failed' || state.nextRetryAt === undefined) return state;
      return state.nextRetryAt >= event.until ? state : { ...state, nextRetryAt: event.until };
    case 'retry-requested':
      return mayRetryEarly(state, moment) ? queuedState(state, moment) : state;
    case 'connect-started':
      if (state.kind !== 'pending' || state.awaits !== 'slot') return state;
      return { ...factsOf(state), kind: 'connecting', since: moment.now, attempt: state.attempt + 1 };
    case 'connect-succeeded':
      return state.kind === 'connecting' ? connectedState(state, event.handshake, moment) : state;
    case 'connect-failed': {
      if (state.kind !== 'connecting') return state;
      const past = { ...state.past, failures: state.past.failures + 1 };
      return failedState({ ...factsOf(state), past, stderr: event.stderr }, event.failure, moment);
    }
    case 'connection-lost': {
      if (state.kind !== 'connected') return state;
      const past = afterLoss(state.past, moment.now - state.since);
      return failedState({ ...factsOf(state), past, stderr: event.stderr }, event.failure, moment);
    }
    case 'listed':
      if (state.kind !== 'connected' || state.handshake.tools === event.tools) return state;
      return { ...state, handshake: { ...state.handshake, tools: event.tools } };
    case 'disabled':
      if (state.kind === 'disabled') return state;
      return {
        ...withoutCause(factsOf(state)),
        kind: 'disabled',
        since: moment.now,
        attempt: 0,
        past: NO_HISTORY,
      };
  }
}

/** Whether an attempt is running or queued. */
export function isBusy(state: ServerState): boolean {
  return state.kind === 'connecting' || (state.kind === 'pending' && state.awaits === 'slot');
}

/** Whether the server waits to be requested. */
export function isIdle(state: ServerState): boolean {
  return state.kind === 'pending' && state.awaits === 'request';
}

/** Whether the next retry may be made early: not for a flapping server, and not before a requested Retry-After. */
function mayRetryEarly(state: ServerState, { now }: TransitionContext): boolean {
  if (state.kind !== 'failed' || state.nextRetryAt === undefined || isFlapping(state.past)) return false;
  return now >= state.since + (state.cause.retryAfterMs ?? 0);
}

/**
 * Whether a call reconnects a server that waits for its next retry. The first lost connection is replaced at once;
 * after that, calls fail fast during the backoff, but no longer than the ordinary maximum delay.
 */
function mayReconnectForCall(state: ServerState, moment: TransitionContext): boolean {
  if (!mayRetryEarly(state, moment) || state.kind !== 'failed') return false;
  const isDue = state.nextRetryAt !== undefined && moment.now >= state.nextRetryAt;
  const isFirstLoss = state.past.hasConnected && state.past.failures <= 1;
  return isDue || isFirstLoss || moment.now >= state.since + moment.retry.ceilingMs;
}

function queuedState(state: ServerState, { now }: TransitionContext): ServerState {
  return { ...factsOf(state), kind: 'pending', awaits: 'slot', since: now };
}

function connectedState(state: ServerState, handshake: Handshake, { now }: TransitionContext): ServerState {
  const past = { ...state.past, hasConnected: true };
  return {
    ...withoutCause(factsOf(state)),
    kind: 'connected',
    since: now,
    attempt: 0,
    past,
    stderr: [],
    era: handshake.era,
    handshake,
  };
}

function failedState(
  facts: Facts,
  cause: ConnectFailure,
  { now, random, retry: policy }: TransitionContext,
): ServerState {
  if (cause.code === 'unauthorized') return { ...facts, kind: 'needs-auth', since: now, cause };
  const failed = { ...facts, kind: 'failed' as const, since: now, cause };
  return mayRetry(facts, cause, policy)
    ? { ...failed, nextRetryAt: now + delayAfterFailure(facts, cause, random, policy) }
    : failed;
}

function factsOf({ since, attempt, past, stderr, era, cause }: ServerState): Facts {
  return { since, attempt, past, stderr, ...(era && { era }), ...(cause && { cause }) };
}

function withoutCause({ cause: _, ...rest }: Facts): Facts {
  return rest;
}

type StateListener = {
  /** Called after each change. */
  changed(before: ServerState, state: ServerState): void;
  /** Called when the next retry is due. */
  retryDue(): void;
};

type StateDeps = { readonly clock: Clock; readonly random: () => number; readonly retry: RetryPolicy };

/** Holds the state of one server, reports its changes and schedules its retries. */
export class ServerStateMachine {
  readonly #given: StateDeps;
  readonly #listener: StateListener;
  #state: ServerState;
  #rest = Promise.withResolvers<void>();
  #stopRetry = noop;
  #isConnectRequested = false;
  #isOver = false;

  constructor(given: StateDeps, listener: StateListener) {
    this.#given = given;
    this.#listener = listener;
    this.#state = initialState(given.clock.now());
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Whether an attempt requested by the user or the program is running. */
  get isConnectRequested(): boolean {
    return this.#isConnectRequested;
  }

  /** After the end nothing is reported. */
  get isOver(): boolean {
    return this.#isOver;
  }

  enter(event: ServerEvent): void {
    const { clock, random, retry } = this.#given;
    const before = this.#state;
    const state = next(before, event, { now: clock.now(), random: random(), retry });
    if (this.#isOver || state === before) return;
    this.#state = state;
    this.#stopRetry();
    this.#stopRetry = this.#planRetry(state);
    if (isBusy(state) && !isBusy(before)) this.#rest = Promise.withResolvers();
    this.#isConnectRequested =
      isBusy(state) &&
      (this.#isConnectRequested || event.kind === 'reconnect-requested' || event.kind === 'enabled');
    this.#listener.changed(before, state);
    if (!isBusy(this.#state)) this.#rest.resolve();
  }

  /** Settles when no attempt is running or queued. */
  async whenIdle(): Promise<void> {
    while (isBusy(this.#state) && !this.#isOver) await this.#rest.promise;
  }

  end(): void {
    this.#isOver = true;
    this.#stopRetry();
    this.#rest.resolve();
  }

  #planRetry(state: ServerState): () => void {
    if (state.kind !== 'failed' || state.nextRetryAt === undefined) return noop;
    const { clock } = this.#given;
    const waitMs = Math.max(0, state.nextRetryAt - clock.now());
    return clock.after(waitMs, () => this.#listener.retryDue(), 'background');
  }
}

function noop(): void {}

/** Why a server could not be connected or was lost, and when to retry. */
export type ConnectFailure = {
  readonly code: HostErrorCode;
  readonly message: string;
  /** The message without the name of the server. */
  readonly detail: string;
  /** `never` if a retry cannot help, `seldom` if it rarely does, `at-once` if it helps without delay. */
  readonly retry: 'never' | 'seldom' | 'later' | 'at-once';
  /** The server's Retry-After. */
  readonly retryAfterMs?: number;
  /** The environment variable that the process reported missing. */
  readonly missingVariable?: MissingVariable;
  readonly stage?: ConnectStage;
  /** Why the authorization failed. */
  readonly authCode?: AuthErrorCode;
};

export function toConnectFailure(failure: unknown): ConnectFailure {
  if (!(failure instanceof HostError)) {
    const message = messageOf(failure);
    return { code: 'unreachable', message, detail: message, retry: 'later' };
  }
  const { code, message, detail, retryAfterMs, missingVariable } = failure;
  const stage = failedStage(failure);
  return {
    code,
    message,
    detail,
    retry: isCommandMissing(failure) ? 'never' : (RETRIES[code] ?? 'later'),
    ...(missingVariable && { missingVariable }),
    ...(stage && { stage }),
    ...(failure instanceof AuthError && { authCode: failure.authCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) }),
  };
}

/** Whether a failed request means that the server requires credentials; a 403 concerns only that request. */
export function isUnauthorized(failure: unknown): boolean {
  if (!(failure instanceof HostError) || failure.code !== 'unauthorized') return false;
  return !isRecord(failure.cause) || failure.cause.status !== 403;
}

const RETRIES: Partial<Record<HostErrorCode, ConnectFailure['retry']>> = {
  'bad-config': 'never',
  unauthorized: 'never',
  'spawn-failed': 'seldom',
  'session-lost': 'at-once',
};

/** ENOENT and EACCES are permanent: the command does not exist or is not executable. */
function isCommandMissing({ code, cause }: HostError): boolean {
  return code === 'spawn-failed' && isRecord(cause) && (cause.code === 'ENOENT' || cause.code === 'EACCES');
}
