import { type Backlog, Broadcast } from '../base/async/broadcast.ts';
import { within } from '../base/async/timers.ts';
import { isRecord } from '../base/json-value.ts';
import { newStartupMessages } from '../config/explain/startup-messages.ts';
import {
  configuredTimeouts,
  type LoadedConfiguration,
  type RunningConfiguration,
} from '../config/running-configuration.ts';
import { type CallRefusal, callTool, type ServerCall } from '../mcp/calls/call-tool.ts';

import { type CallRecord, memoryJournal } from '../mcp/calls/journal.ts';
import type { EraCache, ServerEntry, WarningSubject } from '../mcp/connection/connect-context.ts';
import { HostError, type InactiveReason, unknownServerError } from '../mcp/errors/host-error.ts';
import { Features } from '../mcp/features/features.ts';
import type { Ready } from '../mcp/servers/ready.ts';
import { programEntry } from '../mcp/servers/server-entry.ts';
import { closedStatus, type KnownServer, type ServerStatus } from '../mcp/servers/server-status.ts';
import { type Replaced, Servers } from '../mcp/servers/servers.ts';
import type { PinWatch } from '../pool/pinning/pin-watch.ts';
import type { Pins } from '../pool/pinning/pins.ts';
import type { ToolChange } from '../pool/pinning/tool-change.ts';
import type { CallToolResult, LogLevel } from '../protocol/mcp.ts';
import { unknownMembers } from '../protocol/server-entry.ts';
import {
  checkCallOptions,
  checkHostOptions,
  checkPoolOptions,
  checkReady,
  checkServers,
} from './check-host-options.ts';
import { HostChannelDelivery } from './host-channels.ts';
import { type HostEnvironment, hostConnectDeps, hostPins } from './host-context.ts';
import { HostFeatures } from './host-features.ts';
import type {
  HostCallOptions,
  HostEvent,
  HostEvents,
  HostOptions,
  HostServerEntry,
  HostTool,
} from './host-options.ts';
import { HostPools, type PoolOptions, type ToolPool } from './tool-pool.ts';

/** Time limit for writing caches when the host is closed. */
const FLUSH_MS = 1_000;

/** Connects many MCP servers, keeps the connections alive and calls their tools. */
export class Host extends HostFeatures implements AsyncDisposable {
  readonly #events = new Broadcast<HostEvent>(EVENT_BACKLOG);
  readonly #servers: Servers;
  readonly #features: Features;
  readonly #options: HostOptions;
  readonly #eras: EraCache | undefined;
  readonly #journal = memoryJournal();
  readonly #over = new AbortController();
  readonly #pools: HostPools;
  readonly #pins: Pins;
  readonly #watch: PinWatch;
  readonly #following: Disposable | undefined;
  readonly #channels: HostChannelDelivery | undefined;
  readonly #inactiveReason: InactiveReason = (name) =>
    this.#options.configuration?.running.inactiveReason(name);
  #emit: (event: HostEvent) => void;
  #closing: Promise<void> | undefined;
  #logLevel: LogLevel | undefined;

  constructor(options: HostOptions, environment: HostEnvironment) {
    super();
    checkHostOptions(options);
    this.#options = options;
    this.#logLevel = options.logLevel;
    // Events of the constructor are delayed, so that a listener added right after it gets them.
    this.#emit = (event) => queueMicrotask(() => this.#events.emit(event));
    const emit = (event: HostEvent) => this.#emit(event);
    const onWarning = (server: string, message: string, subject?: WarningSubject) =>
      emit({ type: 'warning', server, message, ...(subject && { subject }) });
    const { concurrency = {}, retry = {}, heartbeatMs } = options;
    this.#channels = this.#openChannels(environment);
    const connectDeps = hostConnectDeps(
      options,
      environment,
      { emit },
      { channels: this.#channels?.channels, logLevel: () => this.#logLevel },
    );
    this.#eras = connectDeps.eraCache;
    const { pins, watch } = hostPins(options, connectDeps.cwd, { emit });
    this.#pins = pins;
    this.#watch = watch;
    this.#servers = new Servers(connectDeps, {
      concurrency,
      retry,
      ...(heartbeatMs !== undefined && { heartbeatMs }),
      readEntry: programEntry,
      onState: (server, _, status) => {
        this.#checkPins(server);
        this.#features.follow(server);
        if (status.state === 'connected') this.#channels?.channels.connected(server);
        emit({ type: 'state', server, status });
      },
      onTools: (server) => {
        this.#checkPins(server);
        emit({ type: 'tools', server });
      },
      onWarning,
      onProgress: (progress) => emit({ type: 'progress', ...progress }),
    });
    this.#pools = new HostPools({
      servers: this.#servers,
      watch,
      call: (...call) => this.callTool(...call),
    });
    this.#features = new Features(this.#servers, {
      ...options,
      onWarning,
      inactiveReason: this.#inactiveReason,
    });
    const { mcpServers = {} } = options;
    for (const warning of entryWarnings(mcpServers)) emit(warning);
    const own = Object.entries(mcpServers).map(([key, value]) => [key, programEntry(key, value)] as const);
    this.#servers.add(Object.fromEntries(own) as Record<string, ServerEntry>, 'dynamic');
    this.#following =
      options.configuration && followConfiguration(this.#servers, options.configuration, emit);
    this.#emit = (event) => this.#events.emit(event);
  }

  /** Events, by `on(listener)` or `for await`. */
  get events(): HostEvents {
    return this.#events;
  }

  /**
   * Resolves when each server that connects at start, and each server with `required`, is connected or has failed, or at
   * the deadline. With `servers`, waits only for these. Rejects if a required or named server is not connected.
   */
  async ready(options: Ready = {}): Promise<void> {
    this.#checkOpen();
    checkReady(options);
    const signal = AbortSignal.any([this.#over.signal, ...(options.signal ? [options.signal] : [])]);
    try {
      await this.#servers.ready({ ...options, inactiveReason: this.#inactiveReason, signal });
    } finally {
      this.#checkOpen();
    }
  }

  /** The tools of all connected servers, grouped by server, in the order of each server. */
  async listTools(): Promise<HostTool[]> {
    this.#checkOpen();
    await this.#servers.listed();
    return [...this.#servers.tools].flatMap(([server, tools]) => tools.map((tool) => ({ ...tool, server })));
  }

  /**
   * Calls a tool; waits for a server that is connecting. Rejects with a `HostError`, an `AbortError`, or the
   * server's `ServerFault`.
   */
  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown> = {},
    options: HostCallOptions = {},
  ): Promise<CallToolResult> {
    this.#checkOpen();
    checkCallOptions(args, options);
    const target = this.#servers.target(server);
    if (!target) throw this.#unknown(server);
    const call: ServerCall = {
      server,
      tool,
      args,
      ...options,
      refusal: () => this.#changedToolRefusal(server, tool),
    };
    const limits = { ...configuredTimeouts(this.#options.configuration), ...this.#options };
    return (await callTool(target, call, this.#journal, limits)) as CallToolResult;
  }

  /** The current tools as a model receives them: unique names, normalized schemas, token costs, and a search. */
  async pool(options: PoolOptions = {}): Promise<ToolPool> {
    this.#checkOpen();
    checkPoolOptions(options);
    await this.#servers.listed();
    return this.#pools.make(options);
  }

  /**
   * Tools that require acceptance. The tools that a server lists when it is first connected are accepted, unless their
   * text contains hidden characters.
   */
  changes(): readonly ToolChange[] {
    return this.#pins.all();
  }

  /**
   * Accepts the current definition of one changed tool or of all changed tools of a server; returns the accepted
   * changes.
   */
  accept(server: string, tool?: string): readonly ToolChange[] {
    if (!this.#servers.all.has(server)) throw this.#unknown(server);
    return this.#pins.accept(server, tool);
  }

  /**
   * The status of every server by name. Configured servers that may not be started are `disabled`, with the cause.
   */
  status(): Record<string, ServerStatus> {
    const running = this.#options.configuration?.running;
    return hostStatus(this.#servers.all, running, this.#closing === undefined ? 'open' : 'closed');
  }

  /** Running and recently finished calls, oldest first. */
  get calls(): readonly Readonly<CallRecord>[] {
    return this.#journal.records;
  }

  /** Closes the connection and connects again, also for a disabled server; returns the new status. */
  async reconnect(name: string): Promise<ServerStatus> {
    this.#checkOpen();
    if (!(await this.#servers.reconnect(name))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /** Disables or enables a server; returns the new status. */
  async toggle(name: string, enabled: boolean): Promise<ServerStatus> {
    this.#checkOpen();
    if (!(await this.#servers.toggle(name, enabled ? 'enabled' : 'disabled'))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /**
   * Replaces the servers. Servers with an unchanged entry keep their connection. Resolves when the new servers are
   * connected or have failed.
   */
  async setServers(servers: Readonly<Record<string, HostServerEntry>>): Promise<Replaced> {
    this.#checkOpen();
    checkServers(servers);
    for (const warning of entryWarnings(servers)) this.#emit(warning);
    return this.#servers.replace(servers);
  }

  /** Changes the minimum level of `log` events. Resolves when the connected servers have been notified. */
  async setLogLevel(level: LogLevel): Promise<void> {
    this.#checkOpen();
    checkHostOptions({ logLevel: level });
    this.#logLevel = level;
    const connections = [...this.#servers.all.keys()].flatMap((name) => this.#servers.connection(name) ?? []);
    await Promise.all(connections.map((connection) => connection.setLogLevel(level)));
  }

  /** Closes all connections; resolves when every process has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    this.#over.abort();
    this.#following?.[Symbol.dispose]();
    this.#features[Symbol.dispose]();
    await this.#channels?.[Symbol.asyncDispose]();
    await this.#servers[Symbol.asyncDispose]();
    await within(FLUSH_MS, this.#eras?.flush?.() ?? Promise.resolve());
    this.#events.end();
  }

  #openChannels({ cwd, home }: HostEnvironment): HostChannelDelivery | undefined {
    const { channels } = this.#options;
    if (!channels) return undefined;
    return new HostChannelDelivery({
      options: channels,
      project: this.#options.cwd ?? cwd,
      home,
      connection: (server) => this.#servers.connection(server),
      warn: (message) => this.#emit({ type: 'warning', server: '', message }),
    });
  }

  /** Compares the tools that a server lists with the accepted definitions. */
  #checkPins(key: string): void {
    const server = this.#servers?.all.get(key);
    if (server) this.#watch.check(key, server);
  }

  /** Checked just before a call is sent, against the tool as the server lists it then. */
  #changedToolRefusal(name: string, tool: string): CallRefusal | undefined {
    const server = this.#servers.all.get(name);
    const listed = this.#servers.target(name)?.tool(tool);
    if (this.#options.changedTools === 'allow' || !server || !listed) return undefined;
    const change = this.#watch.changeOf(name, server, listed);
    // A tool with hidden text that has not changed is only listed in `changes()`.
    return change?.before || change?.isNew ? changedTool(change) : undefined;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new HostError('closed', '', 'The host is closed; create another with createHost()');
  }

  protected override features(): Features {
    this.#checkOpen();
    return this.#features;
  }

  #statusOf(name: string): ServerStatus {
    this.#checkOpen();
    const server = this.#servers.all.get(name);
    if (!server) throw this.#unknown(name);
    return server.status;
  }

  #unknown(name: string): HostError {
    return unknownServerError(name, this.#servers.all.keys(), this.#inactiveReason(name));
  }
}

function changedTool({ server, tool, text }: ToolChange): CallRefusal {
  const args = [server, tool].map((it) => JSON.stringify(it)).join(', ');
  const fault = `the definition of tool ${JSON.stringify(tool)} is not accepted: ${text}; nothing was sent. Accept it with accept(${args}), or create the host with changedTools: "allow"`;
  return { code: 'tool-changed', detail: fault };
}

/** The status of all servers by name: first the running ones, then configured ones that may not be started. */
function hostStatus(
  servers: ReadonlyMap<string, KnownServer>,
  running: RunningConfiguration | undefined,
  host: 'open' | 'closed',
): Record<string, ServerStatus> {
  const inactive = (running?.inactive() ?? []).filter(({ name }) => !servers.has(name));
  const all = [
    ...[...servers].map(([name, { status }]) => [name, status] as const),
    ...inactive.map(({ name }) => [name, inactiveStatus(name, running)] as const),
  ];
  return Object.fromEntries(
    all.map(([name, status]) => [name, host === 'open' ? status : closedStatus(status)]),
  );
}

function inactiveStatus(name: string, running: RunningConfiguration | undefined): ServerStatus {
  const { code, message, detail } = unknownServerError(name, [], running?.inactiveReason(name));
  const since = running?.current.readAt ?? 0;
  return { state: 'disabled', since, attempt: 0, cause: { code, message, detail }, stderr: [] };
}

/** A slow reader may miss output of servers, but no change of a server's state. */
const EVENT_BACKLOG: Backlog<HostEvent> = {
  limit: 1_000,
  isMinor: ({ type }) => type === 'stderr' || type === 'log' || type === 'warning' || type === 'tools',
  dropped: (count) => ({
    type: 'warning',
    server: '',
    message: `${count} events (stderr, log, tools, warning) were dropped because they were not read in time`,
  }),
};

/** Warnings about unknown keys in server entries. */
function entryWarnings(servers: Readonly<Record<string, unknown>>): HostEvent[] {
  return Object.entries(servers).flatMap(([server, entry]) => warningsOf(server, entry));
}

function warningsOf(server: string, entry: unknown): HostEvent[] {
  if (!isRecord(entry)) return [];
  return unknownMembers(entry).map(({ name, suggestion }) => {
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    return { type: 'warning', server, message: `unknown key "${name}" in the server entry${hint}` };
  });
}

/** Runs the configured servers, and applies changes of the configuration until the result is disposed of. */
function followConfiguration(
  servers: Servers,
  { running }: LoadedConfiguration,
  emit: (event: HostEvent) => void,
): Disposable {
  const note = (message: string) => emit({ type: 'warning', server: '', message });
  servers.configure(running.servers);
  return running.follow({
    configure: (entries, now, before) => {
      const { added, removed, restarted } = servers.configure(entries);
      // The reconnect of a server that is now forbidden fails with the reason.
      for (const name of running.forbidden(before, now, servers.all)) void servers.reconnect(name);
      if (added.length + removed.length + restarted.length > 0)
        emit({ type: 'configured', added, removed, restarted });
      for (const text of newStartupMessages(before, now)) note(text);
    },
    note,
  });
}
