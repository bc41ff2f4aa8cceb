import { Broadcast } from '../base/broadcast.ts';
import { isRecord } from '../base/is-record.ts';
import type { CallToolResult } from '../protocol/mcp.ts';
import { checkHostOptions } from './check-host-options.ts';
import { HostError } from './connect/host-error.ts';
import type { EraMemory, ServerEntry } from './connect/world.ts';
import type { HostCallOptions, HostEvent, HostOptions, HostServerEntry, HostTool } from './host-options.ts';
import { type HostWorld, hostConnectWorld } from './host-world.ts';
import { callServer } from './servers/call/call-server.ts';
import { type CallRecord, memoryJournal } from './servers/call/journal.ts';
import { readOwnEntry } from './servers/read-entry.ts';
import type { Ready } from './servers/ready.ts';
import { type Replaced, Servers } from './servers/servers.ts';
import type { ServerStatus } from './servers/status.ts';

/** Many MCP servers as one: dialled, kept alive, called and closed. */
export class Host implements AsyncDisposable {
  /** What happens, by `on(listener)` or `for await`. */
  readonly events = new Broadcast<HostEvent>();
  readonly #servers: Servers;
  readonly #options: HostOptions;
  readonly #eras: EraMemory | undefined;
  readonly #journal = memoryJournal();
  #closing: Promise<void> | undefined;

  constructor(options: HostOptions, world: HostWorld) {
    checkHostOptions(options);
    this.#options = options;
    let isMade = false;
    // Whoever listens as soon as there is a host hears of everything.
    const emit = (event: HostEvent) => {
      if (isMade) this.events.emit(event);
      else queueMicrotask(() => this.events.emit(event));
    };
    const { dialling = {}, retry = {}, heartbeatMs } = options;
    const connectWorld = hostConnectWorld(options, world, { emit });
    this.#eras = connectWorld.eras;
    this.#servers = new Servers(connectWorld, {
      dialling,
      retry,
      ...(heartbeatMs !== undefined && { heartbeatMs }),
      readEntry: readOwnEntry,
      onState: (server, _, status) => emit({ type: 'state', server, status }),
      onTools: (server) => emit({ type: 'tools', server }),
      onWarning: (server, message) => emit({ type: 'warning', server, message }),
      onProgress: (progress) => emit({ type: 'progress', ...progress }),
    });
    this.#servers.add(entriesOf(options.mcpServers ?? {}), 'dynamic');
    isMade = true;
  }

  /** Resolves when the servers have come or failed; rejects if a required one, or one that is named, is not connected. */
  ready(options: Ready = {}): Promise<void> {
    return this.#servers.ready(options);
  }

  /** The tools of all connected servers, by server and then as the server lists them. */
  async listTools(): Promise<HostTool[]> {
    await this.#servers.listed();
    return [...this.#servers.tools].flatMap(([server, tools]) => tools.map((tool) => ({ ...tool, server })));
  }

  /** Waits for a server that is being dialled. Rejects with a `HostError`, an `AbortError`, or the server's own error. */
  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown> = {},
    options: HostCallOptions = {},
  ): Promise<CallToolResult> {
    const target = this.#servers.target(server);
    if (!target) throw this.#unknown(server);
    const call = { server, tool, args, ...options };
    return (await callServer(target, call, this.#journal, this.#options)) as CallToolResult;
  }

  /** Every server by its name. */
  status(): Record<string, ServerStatus> {
    return Object.fromEntries([...this.#servers.all].map(([name, { status }]) => [name, status]));
  }

  /** Calls that run and the last ones that ended, oldest first: what may have run when a connection was lost. */
  get calls(): readonly Readonly<CallRecord>[] {
    return this.#journal.records;
  }

  /** Ends the connection and makes another; gives what came of it. */
  async reconnect(name: string): Promise<ServerStatus> {
    if (!(await this.#servers.reconnect(name))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /** Turns a server off or on; gives what came of it. */
  async toggle(name: string, enabled: boolean): Promise<ServerStatus> {
    if (!(await this.#servers.toggle(name, enabled ? 'enabled' : 'disabled'))) throw this.#unknown(name);
    return this.#statusOf(name);
  }

  /** The servers are these from now on; those whose entry is the same are not touched. Resolves when the new ones have come or failed. */
  setServers(servers: Readonly<Record<string, HostServerEntry>>): Promise<Replaced> {
    if (this.#closing !== undefined) throw closed();
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
    await this.#servers[Symbol.asyncDispose]();
    await this.#eras?.flush?.();
    this.events.end();
  }

  #statusOf(name: string): ServerStatus {
    const server = this.#servers.all.get(name);
    if (!server) throw this.#unknown(name);
    return server.status;
  }

  #unknown(name: string): HostError {
    if (this.#closing !== undefined) return closed();
    const known = [...this.#servers.all.keys()];
    const there = known.length > 0 ? `; there are ${known.join(', ')}` : '';
    return new HostError('unknown-server', name, `nobody named it${there}`);
  }
}

/** What is no entry is left as it is: dialling it says what is wrong, and harms no other. */
function entriesOf(given: Readonly<Record<string, HostServerEntry>>): Record<string, ServerEntry> {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      isRecord(value) && value.type === 'sdk' ? readOwnEntry(key, value) : asEntry(value),
    ]),
  );
}

function asEntry(value: unknown): ServerEntry {
  return (isRecord(value) ? value : {}) as ServerEntry;
}

function closed(): HostError {
  return new HostError('closed', '', 'The host is closed; make another with createHost()');
}
