import { within } from '../../base/async/timers.ts';
import type { Clock } from '../../base/clock.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConnectContext, ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { type CallTarget, callTargetOf } from './call-target.ts';
import { type ConfigureSteps, configureSteps, isSameServer, pick } from './configure.ts';
import { laneOf, SharedConnectLimits } from './connect-queue.ts';
import { REFRESH_TIMEOUT_MS } from './list-refresh.ts';
import { ManagedServer } from './managed-server.ts';
import { awaitReady, type ReadyOptions } from './ready.ts';
import { readEntry } from './server-entry.ts';
import type { ServerState } from './server-state.ts';
import type { KnownServer, ServerOrigin, ServerView } from './server-status.ts';
import {
  makeServerDeps,
  type ServerDeps,
  type ServersOptions,
  type StartProgress,
} from './servers-options.ts';

/** The result of `host.setServers()`. */
export type Replaced = { added: string[]; removed: string[]; errors: Record<string, string> };

/** How long what is remembered may take to be written. */
const FLUSH_MS = 1_000;
const NEVER = new AbortController().signal;

/** Connects many servers and keeps them connected; a failing server does not affect the others. */
export class Servers implements AsyncDisposable {
  /** For sub-agents, which start servers of their own. */
  readonly subAgentConnectLimits: SharedConnectLimits;
  readonly #given: ServerDeps;
  readonly #options: ServersOptions;
  readonly #slots = new Map<string, ManagedServer>();
  readonly #start: StartTracker<ManagedServer>;
  readonly #retries: RetryScheduler;
  /** Removed servers that are still shutting down. */
  readonly #leaving = new Set<Promise<void>>();
  /** Also those whose names the program has taken: they come back when it gives them up. */
  #configured: Readonly<Record<string, ServerEntry>> = {};
  #version = 0;
  #lastConnectAt = performance.now();
  #isEnded = false;

  constructor(context: ConnectContext, options: ServersOptions = {}) {
    this.#options = options;
    const started = () => [...this.#slots].filter(([, slot]) => slot.state.kind !== 'waiting');
    this.#start = new StartTracker(started, options.onProgress);
    this.#given = makeServerDeps(context, options, () => void this.#retries.retryFailed());
    this.subAgentConnectLimits = new SharedConnectLimits(this.#given.clock);
    this.#retries = new RetryScheduler(this.#slots, this.#given.clock);
  }

  /** When somebody's wish was last dialled, by the clock of `performance`. */
  get lastConnectAt(): number {
    return this.#lastConnectAt;
  }

  /** Another number after every change: what was made of an equal one is still right. */
  get version(): number {
    return this.#version;
  }

  get all(): ReadonlyMap<string, KnownServer> {
    return this.#slots;
  }

  /**
   * Starts connecting, except to those that wait to be asked for; `settled()` tells when all have come or failed. One
   * whose entry is the same stays as it is.
   */
  add(entries: Readonly<Record<string, ServerEntry>>, origin: ServerOrigin): void {
    if (this.#isEnded) return;
    const fresh = Object.entries(entries).flatMap(([key, entry]) => {
      const held = this.#slots.get(key);
      if (held && isSameServer(held.entry, entry)) return [];
      this.#drop(key);
      const slot = this.#make(key, entry, origin);
      this.#slots.set(key, slot);
      this.#version++;
      return isRecord(entry) && 'start' in entry && entry.start === 'on-demand' ? [] : [slot];
    });
    this.#start.begin(fresh);
    for (const slot of fresh) void slot.connect();
    if (fresh.length > 0) this.#start.report();
  }

  /** The configured servers are these from now on, all at once; one whose entry is the same goes on undisturbed. */
  configure(entries: Readonly<Record<string, ServerEntry>>): ConfigureSteps {
    const steps = configureSteps(this.#slots, entries);
    this.#configured = entries;
    for (const key of steps.removed) this.#drop(key);
    this.add(pick(entries, [...steps.added, ...steps.restarted]), 'config');
    return steps;
  }

  /** The program's servers are these from now on. What is no entry is told of and changes nothing. */
  async replace(values: Readonly<Record<string, unknown>>): Promise<Replaced> {
    const errors = new Map<string, string>();
    const added = new Map<string, ManagedServer | undefined>();
    const removed = [...this.#slots].flatMap(([key, { origin }]) =>
      origin === 'config' || Object.hasOwn(values, key) ? [] : [key],
    );
    for (const key of removed) this.#drop(key);
    const kept: ManagedServer[] = [];
    for (const [key, value] of Object.entries(values)) {
      try {
        const entry = (this.#options.readEntry ?? readEntry)(key, value);
        const held = this.#slots.get(key);
        this.add({ [key]: entry }, entry.type === 'sdk' ? 'sdk' : 'dynamic');
        const slot = this.#slots.get(key);
        if (held && held === slot) kept.push(held);
        else added.set(key, slot);
      } catch (cause) {
        errors.set(key, messageOf(cause));
      }
    }
    this.add(pick(this.#configured, removed), 'config');
    // The same name in the program may stand for another server now.
    await Promise.all(kept.map((slot) => (slot.entry.type === 'sdk' ? slot.refresh() : undefined)));
    await Promise.all([...[...added.values()].map((slot) => slot?.settled()), ...this.#leaving]);
    for (const [key, slot] of added) {
      const state = slot?.state;
      if (state && 'fault' in state) errors.set(key, state.fault);
    }
    return { added: [...added.keys()], removed, errors: Object.fromEntries(errors) };
  }

  /** Dials one that waits, or has failed; what it is then. Undefined for one nobody named. */
  async connect(key: string): Promise<ServerView | undefined> {
    const slot = this.#slots.get(key);
    if (slot?.state.kind !== 'disabled') await slot?.connectIfNeeded();
    return slot?.state;
  }

  /** Ends the connection and makes another; what it is then. Undefined for one nobody named. */
  async reconnect(key: string): Promise<ServerView | undefined> {
    const slot = this.#slots.get(key);
    // A person who refused a question, and then reconnects the server, wants to be asked again.
    this.#given.context.requestLimiters?.delete(key);
    await slot?.connect();
    return slot?.state;
  }

  /** False for a server nobody named. */
  async toggle(key: string, to: 'enabled' | 'disabled'): Promise<boolean> {
    const slot = this.#slots.get(key);
    if (to === 'disabled') await slot?.disable();
    else if (slot?.state.kind === 'disabled') await slot.connect('enabled');
    return slot !== undefined;
  }

  /** Settles when every requested connection attempt has succeeded or failed. */
  async settled(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.settled()));
  }

  /** As `settled`, but whoever's tools are known from before is not waited for: they are offered meanwhile. */
  async offered(): Promise<void> {
    const known = async (slot: ManagedServer) => {
      if (!slot.tools) await slot.listed();
      if (!slot.tools) await slot.settled();
    };
    await Promise.all([...this.#slots.values()].map(known));
  }

  /** As `settled`, for some or all and not forever; rejects if one that is required, or named here, is not connected. */
  ready(options: ReadyOptions = {}): Promise<void> {
    return awaitReady(this.#slots, options);
  }

  /**
   * Settles when no server is being asked for a list that has changed or holds no longer, or soon: one that does not
   * answer keeps nobody.
   */
  async listed(): Promise<void> {
    const listing = [...this.#slots.values()].map((slot) => slot.listed());
    if (listing.length > 0) await within(REFRESH_TIMEOUT_MS, Promise.all(listing), NEVER);
  }

  /** Whether a server itself has listed the tools it is known for; see `KnownServer`. */
  isVerified(key: string): boolean {
    return this.#slots.get(key)?.isVerified === true;
  }

  /** The tools of every server that is connected, was a moment ago, or is awaited and known from before, by its key. */
  get tools(): Map<string, readonly ListedTool[]> {
    return new Map([...this.#slots].flatMap(([key, { tools }]) => (tools ? [[key, tools] as const] : [])));
  }

  connection(key: string): Connection | undefined {
    return this.#slots.get(key)?.connection;
  }

  /** The server as those who call its tools need it. Undefined for one nobody named. */
  target(key: string): CallTarget | undefined {
    const slot = this.#slots.get(key);
    return slot && callTargetOf(key, slot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    this.#given.heartbeat.end();
    await Promise.all([...this.#slots.values()].map((slot) => slot.end()));
    await Promise.all(this.#leaving);
    await within(FLUSH_MS, this.#given.context.toolCache?.flush?.() ?? Promise.resolve(), NEVER);
  }

  #make(key: string, entry: ServerEntry, origin: ServerOrigin): ManagedServer {
    // Nothing changes for a server in the program unless the program changes it.
    const retry = laneOf(entry) === undefined ? { ...this.#given.retry, attempts: 0 } : this.#given.retry;
    const slot: ManagedServer = new ManagedServer(
      key,
      { entry, origin },
      { ...this.#given, retry },
      {
        state: (before, state) => this.#follow(key, slot, before, state),
        tools: () => {
          this.#version++;
          this.#options.onTools?.(key);
        },
        warning: (message, subject) => this.#options.onWarning?.(key, message, subject),
      },
    );
    return slot;
  }

  #follow(key: string, slot: ManagedServer, before: ServerState, state: ServerState): void {
    this.#version++;
    if (slot.isConnectRequested) this.#lastConnectAt = performance.now();
    this.#options.onState?.(key, state, slot.status);
    const isBack = state.kind === 'connected' && before.kind === 'connecting' && before.cause !== undefined;
    if (isBack && slot.lane === 'remote') void this.#retries.retryFailedEarly();
    if (!slot.isConnectRequested) this.#start.settle(slot);
  }

  /** Dials servers on the network that wait for their next retry, at most once every 10 s; settles when they have come or failed. */
  retryFailed(): Promise<void> {
    return this.#retries.retryFailedEarly();
  }

  #drop(key: string): void {
    const slot = this.#slots.get(key);
    if (!slot) return;
    this.#slots.delete(key);
    this.#start.forget(slot);
    this.#version++;
    const gone = slot.end().then(() => void this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }
}

/** How far the start of many servers is, told whenever it changes. */
class StartTracker<Slot> {
  /** Those whose first dial has not come to anything yet. */
  readonly #starting = new Set<Slot>();
  readonly #started: () => readonly (readonly [key: string, slot: Slot])[];
  readonly #report: ((progress: StartProgress) => void) | undefined;

  /** `started` gives those that do not wait to be asked for. */
  constructor(
    started: () => readonly (readonly [key: string, slot: Slot])[],
    report: ((progress: StartProgress) => void) | undefined,
  ) {
    this.#started = started;
    this.#report = report;
  }

  begin(slots: readonly Slot[]): void {
    for (const slot of slots) this.#starting.add(slot);
  }

  /** Its first dial came to something. */
  settle(slot: Slot): void {
    if (this.#starting.delete(slot)) this.report();
  }

  /** It is not waited for any more, and that is nobody's news. */
  forget(slot: Slot): void {
    this.#starting.delete(slot);
  }

  report(): void {
    if (!this.#report) return;
    const started = this.#started();
    const waitingFor = started.flatMap(([key, slot]) => (this.#starting.has(slot) ? [key] : []));
    const total = started.length;
    this.#report({ settled: total - waitingFor.length, total, waitingFor });
  }
}

/** Failed servers are retried early at most this often. */
const MIN_RETRY_INTERVAL_MS = 10_000;

/** Retries failed remote servers early: when one is reachable again, others may be too. */
class RetryScheduler {
  readonly #slots: ReadonlyMap<string, ManagedServer>;
  readonly #clock: Clock;
  #retriedAt = Number.NEGATIVE_INFINITY;

  constructor(slots: ReadonlyMap<string, ManagedServer>, clock: Clock) {
    this.#slots = slots;
    this.#clock = clock;
  }

  /** As `wake`, but at most once every 10 s. */
  async retryFailedEarly(): Promise<void> {
    if (this.#clock.now() - this.#retriedAt >= MIN_RETRY_INTERVAL_MS) await this.retryFailed();
  }

  /** Settles when that has come to something. */
  async retryFailed(): Promise<void> {
    const waiting = [...this.#slots.values()].filter(
      ({ lane, state }) => lane === 'remote' && state.kind === 'failed',
    );
    if (waiting.length > 0) this.#retriedAt = this.#clock.now();
    for (const slot of waiting) slot.retryNow('retry-requested');
    await Promise.all(waiting.map((slot) => slot.whenIdle()));
  }
}
