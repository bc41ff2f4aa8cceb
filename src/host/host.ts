import { Broadcast } from '../base/broadcast.ts';
import { within } from '../base/within.ts';
import { HostError } from './connect/host-error.ts';
import type { ConnectWorld, ServerEntry } from './connect/world.ts';
import type {
  CallToolResult,
  HostCallOptions,
  HostEvent,
  HostOptions,
  HostServerEntry,
  HostTool,
  Ready,
  ServerStatus,
  ServersSet,
} from './host-options.ts';
import { Servers } from './servers.ts';

/** What a host takes from its surroundings. */
export type HostWorld = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
};

/** Many MCP servers as one: dialled, kept alive, called and closed. */
export class Host implements AsyncDisposable {
  /** What happens, by `on(listener)` or `for await`. */
  readonly events = new Broadcast<HostEvent>();
  readonly #servers: Servers;
  readonly #options: HostOptions;

  constructor(options: HostOptions, world: HostWorld) {
    this.#options = options;
    this.#servers = new Servers(connectWorld(options, world), (server) =>
      this.events.emit({ type: 'state', server, status: this.status()[server] as ServerStatus }),
    );
    this.#servers.add((options.mcpServers ?? {}) as Record<string, ServerEntry>, 'dynamic');
  }

  /** Resolves when the servers have come or failed; rejects if a required one, or one that is named, has not come. */
  async ready({ deadline = Number.POSITIVE_INFINITY, signal = NEVER }: Ready = {}): Promise<void> {
    await within(deadline, this.#servers.ready(), signal);
    signal.throwIfAborted();
  }

  /** The tools of all connected servers, by server and then as the server lists them. */
  async listTools(): Promise<HostTool[]> {
    await this.#servers.listed();
    return [...this.#servers.tools].flatMap(([server, tools]) => tools.map((tool) => ({ ...tool, server })));
  }

  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown> = {},
    { signal, timeoutMs, onProgress, meta }: HostCallOptions = {},
  ): Promise<CallToolResult> {
    await this.#servers.connect(server);
    const connection = this.#servers.connection(server);
    if (!connection) throw new HostError('unknown-server', server, 'it is not connected');
    const total = onProgress ? undefined : timeoutMs;
    const idle = onProgress ? timeoutMs : undefined;
    return (await connection.callTool(tool, args, {
      timeoutMs: total ?? this.#options.callTimeoutMs ?? CALL_MS,
      ...(idle !== undefined && { idleTimeoutMs: idle }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
      ...(meta && { meta }),
    })) as CallToolResult;
  }

  /** Every server by its name. */
  status(): Record<string, ServerStatus> {
    return Object.fromEntries(
      [...this.#servers.all].map(([name, { state }]) => [
        name,
        {
          state: state.kind === 'waiting' ? 'pending' : state.kind === 'pending' ? 'connecting' : state.kind,
          since: 0,
          attempt: 0,
          stderr: [],
          ...(state.kind === 'failed' && { cause: { code: 'unreachable' as const, message: state.fault } }),
        },
      ]),
    );
  }

  /** Ends the connection and makes another; gives what came of it. */
  async reconnect(name: string): Promise<ServerStatus> {
    if (!(await this.#servers.reconnect(name))) throw unknownServer(name);
    return this.status()[name] as ServerStatus;
  }

  async toggle(name: string, enabled: boolean): Promise<ServerStatus> {
    if (!(await this.#servers.toggle(name, enabled ? 'enabled' : 'disabled'))) throw unknownServer(name);
    return this.status()[name] as ServerStatus;
  }

  /** The servers are these from now on: those that are the same stay as they are. */
  setServers(servers: Readonly<Record<string, HostServerEntry>>): Promise<ServersSet> {
    return this.#servers.replace(servers as Record<string, ServerEntry>);
  }

  /** Ends everything; resolves once nothing is left. */
  async close(): Promise<void> {
    await this.#servers[Symbol.asyncDispose]();
    this.events.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const NEVER = new AbortController().signal;
const CALL_MS = 100_000_000;
const CONNECT_MS = 30_000;

function unknownServer(name: string): HostError {
  return new HostError('unknown-server', name, 'nobody named it');
}

function connectWorld(options: HostOptions, world: HostWorld): ConnectWorld {
  return {
    env: options.env ?? world.env,
    cwd: options.cwd ?? world.cwd,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_MS,
    clientInfo: options.clientInfo ?? { name: 'toolplane', version: world.version },
  };
}
