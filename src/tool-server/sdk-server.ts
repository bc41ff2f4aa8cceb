import { isRecord } from '../base/json-value.ts';
import { describeValue, withoutNull } from '../base/option-check.ts';
import type { CallToolResult } from '../protocol/mcp.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { ToolPolicy } from '../protocol/server-entry.ts';
import type { Assigns, ToolContext } from './context.ts';
import { type ForeignServer, isForeignServer, openForeignSession } from './foreign-server.ts';
import type { InstanceMcpServer } from './instance/mcp-server-type.ts';
import type { ArgsOf, PlainJsonSchema, RawShape, StandardSchema } from './schema/standard-schema.ts';
import { noChannelError, type ToolServerChannel } from './serving/channel.ts';
import type { HttpToolServer, ListenOptions } from './serving/listen.ts';
import type { ServedServer } from './serving/stateless-endpoint.ts';
import type { McpSession, SessionPort } from './session.ts';
import { type AnyTool, type ToolExtras, tool } from './tool.ts';
import { type CallOptions, ownerOf, type SdkServerOptions, ToolServer } from './tool-server.ts';

/** An in-process server with its `McpServer` object, as `createSdkMcpServer()` returns it. */
export type McpSdkServerConfigWithInstance = {
  type: 'sdk';
  name: string;
  instance: InstanceMcpServer;
  /** Time limit of one call in milliseconds, enforced by the agent. */
  timeout?: number;
  /** Per-tool permission policy, enforced by the agent. */
  tools?: ToolPolicy[];
};

/** An in-process server as an entry of `mcpServers`. */
export type SdkServerEntry = {
  type: 'sdk';
  name: string;
  /**
   * A Toolplane server, an `McpServer` of the official MCP SDK (v1 or v2), or a function that creates one per
   * query.
   */
  instance: InstanceMcpServer | ForeignServer | (() => ForeignServer);
  /** Time limit of one call in milliseconds, enforced by the agent. */
  timeout?: number;
  /** Per-tool permission policy, enforced by the agent. */
  tools?: ToolPolicy[];
  /** The state that handlers receive in this attachment. */
  assigns?: object;
};

export type { SdkServerOptions } from './tool-server.ts';

/** An in-process server: the official entry shape with methods to add, remove and call tools. */
export class SdkServer {
  readonly type = 'sdk';
  readonly name: string;
  /**
   * The server as an `McpServer` object of the official MCP SDK, created at the first use. Tools that are registered on it
   * are served too.
   */
  declare readonly instance: InstanceMcpServer;
  declare readonly timeout?: number;

  constructor(options: SdkServerOptions) {
    const server = new ToolServer(options);
    this.name = server.name;
    defineServer(this, server);
    if (options.timeout !== undefined) this.timeout = options.timeout;
  }

  /** In declaration order. */
  get tools(): readonly AnyTool[] {
    return ownServer(this).tools;
  }

  /** Defines and adds a tool; open conversations are notified. Returns the server for chaining. */
  tool<Schema extends RawShape | StandardSchema, State extends object = Assigns>(
    name: string,
    description: string,
    schema: Schema,
    handler: (args: ArgsOf<Schema>, ctx: ToolContext<State>) => unknown,
    extras?: ToolExtras,
  ): this;
  tool<Args extends object = Record<string, unknown>, State extends object = Assigns>(
    name: string,
    description: string,
    schema: PlainJsonSchema,
    handler: (args: Args, ctx: ToolContext<State>) => unknown,
    extras?: ToolExtras,
  ): this;
  tool(
    name: string,
    description: string,
    schema: PlainJsonSchema,
    handler: (args: never, ctx: ToolContext<never>) => unknown,
    extras?: ToolExtras,
  ): this {
    this.add(tool(name, description, schema, handler, extras));
    return this;
  }

  add(...tools: AnyTool[]): void {
    ownServer(this).add(...tools);
  }

  remove(name: string): void {
    ownServer(this).remove(name);
  }

  /** Pushes messages into the conversations of all clients. Throws without the option `channel`. */
  get channel(): Pick<ToolServerChannel, 'send'> {
    const { channel, name } = ownServer(this);
    if (!channel) throw noChannelError(name);
    return channel;
  }

  /** Runs a tool like a call of an agent, for unit tests. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<CallToolResult> {
    return ownServer(this).call(name, args, options);
  }

  /** Serves this server over streamable HTTP at `http://host:port/mcp`, until the result is closed. */
  async listen(options?: ListenOptions): Promise<HttpToolServer> {
    const { listenHttp } = await import('./serving/listen.ts');
    return listenHttp(servedServer(this, this.name), options);
  }
}

/** The tool server of an entry, so that it is found without creating the `McpServer` object. */
const TOOL_SERVER: unique symbol = Symbol('tool server');

/** Adds the members of an entry that lead to its server. */
function defineServer(entry: object, server: ToolServer): void {
  Object.defineProperties(entry, {
    [TOOL_SERVER]: { value: server },
    instance: { get: () => server.instance, enumerable: true, configurable: true },
  });
}

function ownServer(entry: SdkServer): ToolServer {
  return (entry as unknown as { [TOOL_SERVER]: ToolServer })[TOOL_SERVER];
}

/** The tool server of an entry or of its instance; undefined for servers of other packages. */
export function toolServerOf(entry: unknown): ToolServer | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  if (TOOL_SERVER in entry) return entry[TOOL_SERVER] as ToolServer;
  const { instance } = entry as { instance?: unknown };
  if (instance instanceof ToolServer) return instance;
  if (typeof instance !== 'object' || instance === null) return undefined;
  // The instance may itself be the result of createSdkMcpServer().
  return ownerOf(instance) ?? (TOOL_SERVER in instance ? toolServerOf(instance) : undefined);
}

/** Creates an MCP server in this process. The agent addresses it by its key in `mcpServers`. */
export function createSdkMcpServer(options: SdkServerOptions): SdkServer & McpSdkServerConfigWithInstance {
  // The official type has an optional policy under the name of the list of tools; an own member counts as the policy.
  return new SdkServer(withoutNull(options)) as SdkServer & McpSdkServerConfigWithInstance;
}

/** Creates an in-process server by chaining: `toolServer('calc').tool(…).tool(…)`. */
export function toolServer(name: string, options: Omit<SdkServerOptions, 'name'> = {}): SdkServer {
  return new SdkServer({ ...withoutNull(options), name });
}

/**
 * Attaches application state to a server for one query. A server can be attached several times with different
 * state.
 */
export function attach(server: SdkServer | SdkServerEntry, options: { assigns: object }): SdkServerEntry {
  const own = toolServerOf(server);
  if (!isRecord(server) || server.type !== 'sdk' || !(own ?? server.instance)) {
    throw new SdkError(
      'bad-server',
      `attach() requires a server returned by toolServer() or createSdkMcpServer(), but received ${describeValue(server)}`,
    );
  }
  const { type, name, timeout } = server;
  if (typeof options?.assigns !== 'object' || options.assigns === null) {
    throw new SdkError(
      'bad-server',
      `attach() of server "${name}" requires { assigns }, the application state passed to its handlers`,
    );
  }
  const policy = server instanceof SdkServer ? undefined : server.tools;
  const entry = {
    type,
    name,
    ...(timeout !== undefined && { timeout }),
    ...(policy && { tools: policy }),
    assigns: options.assigns,
  };
  if (!own) return { ...entry, instance: server.instance };
  defineServer(entry, own);
  return entry as SdkServerEntry;
}

/** Opens a session on the server of an entry. */
export function openSession(entry: Pick<SdkServerEntry, 'instance'>, port: SessionPort): McpSession {
  const own = toolServerOf(entry);
  if (own) return own.open(port);
  const { instance } = entry;
  if (isForeignServer(instance)) return openForeignSession(instance, port);
  if (typeof instance === 'function') return openOwnSession(instance, port);
  throw new SdkError(
    'bad-server',
    `mcpServers["${port.server}"]: "instance" is not an MCP server; pass what createSdkMcpServer() returns, or an McpServer`,
    { server: port.server },
  );
}

/** The server of an entry as an HTTP endpoint uses it. */
export function servedServer(entry: Pick<SdkServerEntry, 'instance'>, name: string): ServedServer {
  const own = toolServerOf(entry);
  return {
    name,
    open: (port) => openSession(entry, port),
    find: (tool) => own?.find(tool),
    get needsHandshake() {
      return !own?.isAlone;
    },
  };
}

/** A server created by a factory for one session is closed with it. */
function openOwnSession(make: () => ForeignServer, port: SessionPort): McpSession {
  const server = make();
  const session = openSession({ instance: server }, port);
  return {
    receive: (message) => session.receive(message),
    close: () => {
      session.close();
      closeQuietly(server);
    },
  };
}

/** Ignores errors, since the session is over; a server without `close()` needs none. */
function closeQuietly(server: { close?: unknown }): void {
  if (typeof server.close !== 'function') return;
  try {
    Promise.resolve(server.close()).catch(() => {});
  } catch {}
}
