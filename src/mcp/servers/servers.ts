import { within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConnectContext, ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { type CallTarget, callTargetOf } from './call-target.ts';
import { laneOf, SharedConnectLimits } from './connect-queue.ts';
import { REFRESH_TIMEOUT_MS } from './list-refresh.ts';
import { ManagedServer } from './managed-server.ts';
import { awaitReady, type ReadyOptions } from './ready.ts';
import { readEntry } from './server-entry.ts';
import type { ServerState } from './server-state.ts';
import type { KnownServer, ServerOrigin, ServerView } from './server-status.ts';
import {
  type ConfigureSteps,
  configureSteps,
  isSameServer,
  makeServerDeps,
  pick,
  type ServerDeps,
  type ServersOptions,
} from './servers-options.ts';

/** The result of `host.setServers()`. */
export type Replaced = { added: string[]; removed: string[]; errors: Record<string, string> };

/** Time limit for writing the tool cache at the end. */
const FLUSH_MS = 1_000;
const MIN_RETRY_INTERVAL_MS = 10_000;
const NEVER = new AbortController().signal;

/** Connects many servers and keeps them connected; a failing server does not affect the others. */
export class Servers implements AsyncDisposable {
  /** Connect limits for sub-agents, which start their own servers. */
  readonly subAgentConnectLimits: SharedConnectLimits;
  readonly #given: ServerDeps;
  readonly #options: ServersOptions;
  readonly #slots = new Map<string, ManagedServer>();
  /** Servers whose first connection attempt has not finished. */
  readonly #starting = new Set<ManagedServer>();
  readonly #signIns: Disposable | undefined;
  #retriedAt = Number.NEGATIVE_INFINITY;
  /** Removed servers that are still shutting down. */
  readonly #leaving = new Set<Promise<void>>();
  /** The configured servers, including those that a server of the program with the same name replaces for now. */
  #configured: Readonly<Record<string, ServerEntry>> = {};
  #version = 0;
  #lastConnectAt = performance.now();
  #isEnded = false;

  constructor(context: ConnectContext, options: ServersOptions = {}) {
    this.#options = options;
    this.#given = makeServerDeps(context, options, () => void this.#retryFailedNow());
    this.subAgentConnectLimits = new SharedConnectLimits(this.#given.clock);
    // The person may sign in with another process, such as `toolplane mcp login`.
    this.#signIns = context.auth?.onSignedIn((key) => {
      const slot = this.#slots.get(key);
      if (slot?.state.kind === 'needs-auth') void slot.connect();
    });
  }

  /** When a requested connection attempt last changed state, by `performance.now()`. */
  get lastConnectAt(): number {
    return this.#lastConnectAt;
  }

  /** Changes with every change of a server or its tools, so that callers can cache what they derive. */
  get version(): number {
    return this.#version;
  }

  get all(): ReadonlyMap<string, KnownServer> {
    return this.#slots;
  }

  /** Starts connecting the servers, except on-demand ones. A server whose entry is unchanged is left as it is. */
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
    for (const slot of fresh) this.#starting.add(slot);
    for (const slot of fresh) void slot.connect();
    if (fresh.length > 0) this.#reportProgress();
  }

  /** Replaces all configured servers. A server whose entry is unchanged keeps its connection. */
  configure(entries: Readonly<Record<string, ServerEntry>>): ConfigureSteps {
    const steps = configureSteps(this.#slots, entries);
    this.#configured = entries;
    for (const key of steps.removed) this.#drop(key);
    this.add(pick(entries, [...steps.added, ...steps.restarted]), 'config');
    return steps;
  }

  /** Replaces the servers of the program. Invalid entries are reported in `errors`; the others are unaffected. */
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
    // A server of the program may be a different one under the same name.
    await Promise.all(kept.map((slot) => (slot.entry.type === 'sdk' ? slot.refresh() : undefined)));
    await Promise.all([...[...added.values()].map((slot) => slot?.settled()), ...this.#leaving]);
    for (const [key, slot] of added) {
      const state = slot?.state;
      if (state && 'fault' in state) errors.set(key, state.fault);
    }
    return { added: [...added.keys()], removed, errors: Object.fromEntries(errors) };
  }

  /** Connects an idle or failed server and returns its resulting state; undefined for an unknown name. */
  async connect(key: string): Promise<ServerView | undefined> {
    const slot = this.#slots.get(key);
    if (slot?.state.kind !== 'disabled') await slot?.connectIfNeeded();
    return slot?.state;
  }

  /** Closes the connection, connects again and returns the resulting state; undefined for an unknown name. */
  async reconnect(key: string): Promise<ServerView | undefined> {
    const slot = this.#slots.get(key);
    // After an explicit reconnect the server may ask the user again, even if the user refused its earlier requests.
    this.#given.context.requestLimiters?.delete(key);
    await slot?.connect();
    return slot?.state;
  }

  /** False for an unknown name. */
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

  /** Like `settled`, but does not wait for servers whose cached tools are offered meanwhile. */
  async offered(): Promise<void> {
    const known = async (slot: ManagedServer) => {
      if (!slot.tools) await slot.listed();
      if (!slot.tools) await slot.settled();
    };
    await Promise.all([...this.#slots.values()].map(known));
  }

  /** Waits for some or all servers, at most until a deadline; rejects if a required or named server is not connected. */
  ready(options: ReadyOptions = {}): Promise<void> {
    return awaitReady(this.#slots, options);
  }

  /** Settles when no changed or expired list is being read, or after 2 s. */
  async listed(): Promise<void> {
    const listing = [...this.#slots.values()].map((slot) => slot.listed());
    if (listing.length > 0) await within(REFRESH_TIMEOUT_MS, Promise.all(listing), NEVER);
  }

  /** Whether the server itself has listed its tools; cached tools are not verified. */
  isVerified(key: string): boolean {
    return this.#slots.get(key)?.isVerified === true;
  }

  /** The tools of each server that is connected, was lost a moment ago, or is connecting and has cached tools. */
  get tools(): Map<string, readonly ListedTool[]> {
    return new Map([...this.#slots].flatMap(([key, { tools }]) => (tools ? [[key, tools] as const] : [])));
  }

  connection(key: string): Connection | undefined {
    return this.#slots.get(key)?.connection;
  }

  /** The server as callers of its tools need it; undefined for an unknown name. */
  target(key: string): CallTarget | undefined {
    const slot = this.#slots.get(key);
    return slot && callTargetOf(key, slot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    this.#given.heartbeat.end();
    this.#signIns?.[Symbol.dispose]();
    await Promise.all([...this.#slots.values()].map((slot) => slot.end()));
    await Promise.all(this.#leaving);
    await within(FLUSH_MS, this.#given.context.toolCache?.flush?.() ?? Promise.resolve(), NEVER);
  }

  #make(key: string, entry: ServerEntry, origin: ServerOrigin): ManagedServer {
    // Retrying an in-process server is pointless: only the program can change it.
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
    if (isBack && slot.lane === 'remote') void this.retryFailed();
    if (!slot.isConnectRequested && this.#starting.delete(slot)) this.#reportProgress();
  }

  #reportProgress(): void {
    const started = [...this.#slots].filter(([, slot]) => slot.state.kind !== 'waiting');
    const waitingFor = started.flatMap(([key, slot]) => (this.#starting.has(slot) ? [key] : []));
    const total = started.length;
    this.#options.onProgress?.({ settled: total - waitingFor.length, total, waitingFor });
  }

  /**
   * Retries failed remote servers before their next retry is due, at most once every 10 s: when one is reachable again,
   * others may be too. Settles when the attempts have finished.
   */
  async retryFailed(): Promise<void> {
    if (this.#given.clock.now() - this.#retriedAt >= MIN_RETRY_INTERVAL_MS) await this.#retryFailedNow();
  }

  async #retryFailedNow(): Promise<void> {
    const failed = [...this.#slots.values()].filter(
      ({ lane, state }) => lane === 'remote' && state.kind === 'failed',
    );
    if (failed.length > 0) this.#retriedAt = this.#given.clock.now();
    for (const slot of failed) slot.retryNow('retry-requested');
    await Promise.all(failed.map((slot) => slot.whenIdle()));
  }

  #drop(key: string): void {
    const slot = this.#slots.get(key);
    if (!slot) return;
    this.#slots.delete(key);
    this.#starting.delete(slot);
    this.#version++;
    const gone = slot.end().then(() => void this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }
}
