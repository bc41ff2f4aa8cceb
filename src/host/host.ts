import { Broadcast } from '../base/broadcast.ts';
import { within } from '../base/within.ts';
import type { CallToolResult } from '../protocol/mcp.ts';
import { unknownMembers } from '../protocol/server-entry.ts';
import { checkCallOptions, checkHostOptions, checkReady, checkServers } from './check-host-options.ts';
import { HostError } from './connect/host-error.ts';
import type { EraMemory, ServerEntry } from './connect/world.ts';
import { EVENT_BACKLOG } from './event-backlog.ts';
import type {
  HostCallOptions,
  HostEvent,
  HostEvents,
  HostOptions,
  HostServerEntry,
  HostTool,
} from './host-options.ts';
import { type HostWorld, hostConnectWorld } from './host-world.ts';
import { callServer } from './servers/call/call-server.ts';
import { type CallRecord, memoryJournal } from './servers/call/journal.ts';
import { ownEntry } from './servers/read-entry.ts';
import type { Ready } from './servers/ready.ts';
import { type Replaced, Servers } from './servers/servers.ts';
import { closedStatus, type ServerStatus } from './servers/status.ts';

/** How long what is remembered may take to be written. */
const FLUSH_MS = 1_000;

/** Many MCP servers as one: dialled, kept alive, called and closed. */
export class Host implements AsyncDisposable {
  readonly #events = new Broadcast<HostEvent>(EVENT_BACKLOG);
  readonly #servers: Servers;
  readonly #options: HostOptions;
  readonly #eras: EraMemory | undefined;
  readonly #journal = memoryJournal();
  readonly #over = new AbortController();
  #emit: (event: HostEvent) => void;
  #closing: Promise<void> | undefined;

  constructor(options: HostOptions, world: HostWorld) {
    checkHostOptions(options);
    this.#options = options;
    // Whoever listens as soon as there is a host hears of everything.
    this.#emit = (event) => queueMicrotask(() => this.#events.emit(event));
    const emit = (event: HostEvent) => this.#emit(event);
    const { dialling = {}, retry = {}, heartbeatMs } = options;
    const connectWorld = hostConnectWorld(options, world, { emit });
    this.#eras = connectWorld.eras;
    this.#servers = new Servers(connectWorld, {
      dialling,
      retry,
      ...(heartbeatMs !== undefined && { heartbeatMs }),
      readEntry: ownEntry,
      onState: (server, _, status) => emit({ type: 'state', server, status }),
      onTools: (server) => emit({ type: 'tools', server }),
      onWarning: (server, message) => emit({ type: 'warning', server, message }),
      onProgress: (progress) => emit({ type: 'progress', ...progress }),
    });
    const entries = Object.entries(options.mcpServers ?? {}).map(([key, value]) => {
      this.#warnOf(key, value);
      return [key, ownEntry(key, value)] as const;
    });
    this.#servers.add(Object.fromEntries(entries) as Record<string, ServerEntry>, 'dynamic');
    this.#emit = (event) => this.#events.emit(event);
  }

  /** What happens, by `on(listener)` or `for await`. */
  get events(): HostEvents {
    return this.#events;
  }

  /** Resolves when the servers have come or failed; rejects if a required one, or one that is named, is not connected. */
  async ready(options: Ready = {}): Promise<void> {
    this.#checkOpen();
    checkReady(options);
    const { signal } = this.#over;
    try {
      await this.#servers.ready({
        ...options,
        signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal,
      });
    } finally {
      this.#checkOpen();
    }
  }

  /** The tools of all connected servers, by server and then as the server lists them. */
  async listTools(): Promise<HostTool[]> {
    this.#checkOpen();
    await this.#servers.listed();
    return [...this.#servers.tools].flatMap(([server, tools]) => tools.map((tool) => ({ ...tool, server })));
  }

  /** Waits for a server that is being dialled. Rejects with a `HostError`, an `AbortError`, or the server's own `ServerFault`. */
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
    const call = { server, tool, args, ...options };
    return (await callServer(target, call, this.#journal, this.#options)) as CallToolResult;
  }

  /** Every server by its name. */
  status(): Record<string, ServerStatus> {
    const told = (status: ServerStatus) => (this.#closing === undefined ? status : closedStatus(status));
    return Object.fromEntries([...this.#servers.all].map(([name, { status }]) => [name, told(status)]));
  }

  /** Calls that run and the last ones that ended, oldest first: what may have run when a connection was lost. */
  get calls(): readonly Readonly<CallRecord>[] {
    return this.#journal.records;
  }

  /** Ends the connection and makes another, also of one that was turned off; gives what came of it. */
  async reconnect(name: string): Promise<ServerStatus> {
    this.#checkOpen();
    if (!(await this.#servers.reconnect(name))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /** Turns a server off or on; gives what came of it. */
  async toggle(name: string, enabled: boolean): Promise<ServerStatus> {
    this.#checkOpen();
    if (!(await this.#servers.toggle(name, enabled ? 'enabled' : 'disabled'))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /** The servers are these from now on; those whose entry is the same are not touched. Resolves when the new ones have come or failed. */
  async setServers(servers: Readonly<Record<string, HostServerEntry>>): Promise<Replaced> {
    this.#checkOpen();
    checkServers(servers);
    for (const [key, value] of Object.entries(servers)) this.#warnOf(key, value);
    return this.#servers.replace(servers);
  }

  /** Ends everything; resolves once nothing is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    this.#over.abort();
    await this.#servers[Symbol.asyncDispose]();
    await within(FLUSH_MS, this.#eras?.flush?.() ?? Promise.resolve(), NEVER);
    this.#events.end();
  }

  /** A member nobody knows is most likely a typo. */
  #warnOf(server: string, entry: unknown): void {
    if (typeof entry !== 'object' || entry === null) return;
    for (const { name, meant } of unknownMembers(entry)) {
      const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
      this.#emit({ type: 'warning', server, message: `"${name}" of its entry means nothing here${hint}` });
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new HostError('closed', '', 'The host is closed; make another with createHost()');
  }

  #statusOf(name: string): ServerStatus {
    this.#checkOpen();
    const server = this.#servers.all.get(name);
    if (!server) throw this.#unknown(name);
    return server.status;
  }

  #unknown(name: string): HostError {
    const known = [...this.#servers.all.keys()];
    const there = known.length > 0 ? `; there are ${known.join(', ')}` : '';
    return new HostError('unknown-server', name, `nobody named it${there}`);
  }
}

const NEVER = new AbortController().signal;
