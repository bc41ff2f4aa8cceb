import { type Clock, SYSTEM_CLOCK } from '../../base/clock.ts';
import { connect } from '../connection/connect.ts';
import type { ConnectContext, WarningSubject } from '../connection/connect-context.ts';
import {
  CONNECT_CONCURRENCY,
  type ConnectConcurrency,
  ConnectQueue,
  ConnectRateLimit,
  type SharedConnectLimits,
} from './connect-queue.ts';
import { HealthChecks } from './health-check.ts';
import { RETRY, type RetryPolicy } from './retry-policy.ts';
import type { readEntry } from './server-entry.ts';
import type { ServerState } from './server-state.ts';
import type { ServerStatus } from './server-status.ts';

/** How many servers are kept over time, and who hears of it; listeners must not throw. */
export type ServersOptions = {
  concurrency?: Partial<ConnectConcurrency>;
  retry?: Partial<RetryPolicy>;
  /** Limits shared with others that start servers from the same entries; by default each server has its own. */
  connectLimits?: SharedConnectLimits;
  /** How often a server that says nothing is asked for a sign of life; by default every 30 s, 0 never asks. */
  heartbeatMs?: number;
  /** How long the tools of a server that was lost stay offered; by default 5 s. */
  graceMs?: number;
  clock?: Clock;
  /** Spreads retries: a number in [0, 1) at every call. */
  random?: () => number;
  connect?: typeof connect;
  /** Reads what `replace` is given; by default as what came over a wire. */
  readEntry?: typeof readEntry;
  onState?: (key: string, state: ServerState, status: ServerStatus) => void;
  /** Hears that what a server offers has changed. */
  onTools?: (key: string) => void;
  /** Hears of what a server listed that cannot be offered. */
  onWarning?: (key: string, message: string, subject?: WarningSubject) => void;
  onProgress?: (progress: StartProgress) => void;
};

/** How far the start is: of `total` servers that are dialled, so many have come or failed. */
export type StartProgress = {
  readonly settled: number;
  readonly total: number;
  readonly waitingFor: readonly string[];
};

const HEARTBEAT_MS = 30_000;
const GRACE_MS = 5_000;

/** What servers have in common, with a default for everything nobody chose; `onWake` hears that the machine slept. */
export function makeServerDeps(
  context: ConnectContext,
  options: ServersOptions,
  onClockJump: () => void,
): ServerDeps {
  const clock = options.clock ?? SYSTEM_CLOCK;
  return {
    context: { skipProbeOnce: new Set(), requestLimiters: new Map(), ...context },
    clock,
    connect: options.connect ?? connect,
    queue: new ConnectQueue({ ...CONNECT_CONCURRENCY, ...options.concurrency }, clock),
    limitOf: (key) => options.connectLimits?.of(key) ?? new ConnectRateLimit(clock),
    heartbeat: new HealthChecks(options.heartbeatMs ?? HEARTBEAT_MS, clock, onClockJump),
    random: options.random ?? Math.random,
    retry: { ...RETRY, ...options.retry },
    graceMs: options.graceMs ?? GRACE_MS,
  };
}

/** What the servers of one host have in common. */
export type ServerDeps = {
  readonly context: ConnectContext;
  readonly connect: typeof connect;
  readonly queue: ConnectQueue;
  /** How often a server of that name may be dialled. */
  readonly limitOf: (key: string) => ConnectRateLimit;
  readonly heartbeat: HealthChecks;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** How long the tools of a server that was lost stay offered. */
  readonly graceMs: number;
};

/** Hears what becomes of one server. */
export type ServerListener = {
  state(before: ServerState, state: ServerState): void;
  tools(): void;
  warning(message: string, subject?: WarningSubject): void;
};
