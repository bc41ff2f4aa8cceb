import { type Clock, SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { isEqualJson } from '../../base/json-value.ts';
import { toolServerOf } from '../../tool-server/sdk-server.ts';
import { connect } from '../connection/connect.ts';
import type { ConnectContext, ServerEntry, WarningSubject } from '../connection/connect-context.ts';
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
import type { ServerOrigin, ServerStatus } from './server-status.ts';

/** Options of `Servers`; listeners must not throw. */
export type ServersOptions = {
  concurrency?: Partial<ConnectConcurrency>;
  retry?: Partial<RetryPolicy>;
  /** Rate limits shared with other `Servers` that start the same entries. Default: each server has its own. */
  connectLimits?: SharedConnectLimits;
  /** Interval of health checks of idle servers. Default: 30 s; 0 disables them. */
  heartbeatMs?: number;
  /** How long the tools of a lost server stay offered. Default: 5 s. */
  graceMs?: number;
  clock?: Clock;
  /** Jitter of retries: returns a number in [0, 1). */
  random?: () => number;
  connect?: typeof connect;
  /** Parses the entries passed to `replace`. Default: as received over the control channel. */
  readEntry?: typeof readEntry;
  onState?: (key: string, state: ServerState, status: ServerStatus) => void;
  /** Called when the tools or prompts of a server change. */
  onTools?: (key: string) => void;
  /** Called for listed entries that are invalid. */
  onWarning?: (key: string, message: string, subject?: WarningSubject) => void;
  onProgress?: (progress: StartProgress) => void;
};

/** Progress of the start: how many of the connecting servers are connected or have failed. */
export type StartProgress = {
  readonly settled: number;
  readonly total: number;
  readonly waitingFor: readonly string[];
};

const HEARTBEAT_MS = 30_000;
const GRACE_MS = 5_000;

/** Fills in defaults; `onClockJump` is called after the machine was suspended. */
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

/** Dependencies shared by the servers of one host. */
export type ServerDeps = {
  readonly context: ConnectContext;
  readonly connect: typeof connect;
  readonly queue: ConnectQueue;
  /** The rate limit of connection attempts to the server of that name. */
  readonly limitOf: (key: string) => ConnectRateLimit;
  readonly heartbeat: HealthChecks;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** How long the tools of a lost server stay offered. */
  readonly graceMs: number;
};

/** Receives the changes of one server. */
export type ServerListener = {
  state(before: ServerState, state: ServerState): void;
  tools(): void;
  warning(message: string, subject?: WarningSubject): void;
};

/** How a new configuration changes the servers; each name is in exactly one list. */
export type ConfigureSteps = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Servers whose entry changed. */
  readonly restarted: readonly string[];
  readonly untouched: readonly string[];
  /** Names that a server of the program already uses; the program's server stays. */
  readonly kept: readonly string[];
};

/** Compares the new configuration with the current servers. */
export function configureSteps(
  held: ReadonlyMap<string, { readonly entry: ServerEntry; readonly origin: ServerOrigin }>,
  entries: Readonly<Record<string, ServerEntry>>,
): ConfigureSteps {
  const names = Map.groupBy(Object.keys(entries), (key): keyof ConfigureSteps => {
    const slot = held.get(key);
    if (!slot) return 'added';
    if (slot.origin !== 'config') return 'kept';
    return isSameServer(slot.entry, entries[key] as ServerEntry) ? 'untouched' : 'restarted';
  });
  const isGone = ([key, { origin }]: [string, { readonly origin: ServerOrigin }]) =>
    origin === 'config' && !Object.hasOwn(entries, key);
  return {
    added: names.get('added') ?? [],
    removed: [...held].filter(isGone).map(([key]) => key),
    restarted: names.get('restarted') ?? [],
    untouched: names.get('untouched') ?? [],
    kept: names.get('kept') ?? [],
  };
}

/** A one-line summary of the changes; undefined if there are none. */
export function stepsText({ added, removed, restarted }: ConfigureSteps): string | undefined {
  const done = Object.entries({ added, removed, restarted }).filter(([, names]) => names.length > 0);
  if (done.length === 0) return undefined;
  return `configuration: ${done.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`;
}

/** The entries with these names. */
export function pick(
  entries: Readonly<Record<string, ServerEntry>>,
  names: readonly string[],
): Record<string, ServerEntry> {
  const named = names.filter((name) => Object.hasOwn(entries, name));
  return Object.fromEntries(named.map((name) => [name, entries[name] as ServerEntry]));
}

/** Whether two entries describe the same server; in-process servers are compared by identity. */
export function isSameServer(a: ServerEntry, b: ServerEntry): boolean {
  return instanceOf(a) === instanceOf(b) && isEqualJson(described(a), described(b));
}

/** The object that identifies an in-process server. */
function instanceOf(entry: ServerEntry): unknown {
  return entry.type === 'sdk' ? (toolServerOf(entry) ?? entry.instance) : undefined;
}

const IN_MEMORY: ReadonlySet<string> = new Set(['manifest', 'instance', 'assigns']);

/** The entry without the values that exist only in memory, which are not read. */
function described(entry: ServerEntry): object {
  const names = Object.keys(entry).filter((name) => !IN_MEMORY.has(name));
  return Object.fromEntries(names.map((name) => [name, entry[name as keyof ServerEntry]]));
}
