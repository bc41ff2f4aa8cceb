import { isRecord } from '../base/json-value.ts';
import {
  boolean,
  type Check,
  describeValue,
  list,
  optionFault,
  positiveNumber,
  string,
} from '../base/option-check.ts';
import { type CallToolResult, type ListedTool, MCP_VERSIONS } from '../protocol/mcp.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { normalizeName } from '../protocol/tool-name.ts';
import { CallContext, type CallPort } from './context.ts';
import { openForeignSession } from './foreign-server.ts';
import { createMcpServerInstance, type McpServerInstance } from './instance/mcp-server-instance.ts';
import type { InstanceMcpServer } from './instance/mcp-server-type.ts';
import {
  canSubscribe,
  hasCompletions,
  type PromptDefinition,
  parseTemplate,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
} from './methods.ts';
import { runTool } from './run-tool.ts';
import { type ChannelOptions, ToolServerChannel } from './serving/channel.ts';
import type { ClientRequest } from './serving/client-requests.ts';
import { serveTransport, type Transport } from './serving/serve.ts';
import { type SessionPort, ToolSession } from './session.ts';
import { type AnyTool, type CompiledTool, compileTool } from './tool.ts';

/** Options of a direct call. */
export type CallOptions = {
  assigns?: object;
  signal?: AbortSignal;
  toolUseId?: string;
  onProgress?: NonNullable<CallPort['onProgress']>;
  onLog?: NonNullable<CallPort['onLog']>;
  /** Receives notifications of the handler, such as `ctx.channel()` sends. */
  onNotification?: NonNullable<CallPort['onNotification']>;
  /** Answers requests of the handler to the client: `ctx.elicit()`, `ctx.sample()` and `ctx.listRoots()`. */
  onRequest?: (request: ClientRequest) => Record<string, unknown> | Promise<Record<string, unknown>>;
};

/** The tools of one server. Any number of sessions can be open on it at once; they share nothing but the handlers. */
export class ToolServer {
  readonly name: string;
  readonly version: string;
  readonly options: Readonly<ToolServerOptions>;
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  readonly resourceTemplates: readonly ResourceTemplateDefinition[];
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  /** Undefined without the option `channel`. */
  readonly channel: ToolServerChannel | undefined;
  readonly #tools = new Map<string, CompiledTool>();
  readonly #sessions = new Set<ToolSession>();
  readonly #transports = new Map<ToolSession, Transport>();
  #listed: { tools: ListedTool[] } | undefined;
  #instance: McpServerInstance | undefined;
  readonly #stale = new Set<ToolSession>();

  constructor(options: ToolServerOptions) {
    checkServerOptions(options);
    this.name = options.name;
    this.version = options.version ?? '1.0.0';
    this.options = options;
    this.resources = new Map((options.resources ?? []).map((resource) => [resource.uri, resource]));
    this.resourceTemplates = options.resourceTemplates ?? [];
    this.prompts = new Map((options.prompts ?? []).map((prompt) => [prompt.name, prompt]));
    const { channel } = options;
    this.channel =
      channel === undefined || channel === false
        ? undefined
        : new ToolServerChannel(this.name, channel === true ? {} : channel, () => this.#sessions);
    for (const definition of options.tools ?? []) this.#add(definition);
  }

  /** In declaration order. */
  get tools(): readonly AnyTool[] {
    return [...this.#tools.values()].map((tool) => tool.definition);
  }

  /** A tool whose calls need not pass through the `McpServer` object. */
  find(name: string): CompiledTool | undefined {
    const tool = this.#tools.get(name);
    return this.#instance?.isDirect(name) === false ? undefined : tool;
  }

  /** The `McpServer` object of this server. Its class is loaded and the object created at the first use. */
  get instance(): InstanceMcpServer {
    if (this.#instance) return this.#instance;
    const instance = createMcpServerInstance(this, this.#tools.values());
    this.#instance = instance;
    owners.set(instance, this);
    for (const session of this.#sessions) {
      session.share((port) => openForeignSession(instance.shared, port));
      session.initializeShared();
    }
    return instance;
  }

  /** Whether only this object serves the tools: no program has used the `McpServer` object. */
  get isAlone(): boolean {
    return this.#instance === undefined;
  }

  /** Adds tools and notifies open sessions. An invalid tool adds none of them. */
  add(...definitions: AnyTool[]): void {
    const added: string[] = [];
    try {
      for (const definition of definitions) {
        this.#add(definition);
        added.push(definition.name);
      }
    } catch (fault) {
      for (const name of added) this.#tools.delete(name);
      throw fault;
    }
    for (const name of added) this.#instance?.adopt(this.#tools.get(name) as CompiledTool);
    if (added.length > 0) this.toolsChanged();
  }

  /** Removes a tool and notifies open sessions; running calls continue. */
  remove(name: string): void {
    if (!this.#tools.delete(name)) throw this.#unknown(name);
    this.#instance?.discard(name);
    this.toolsChanged();
  }

  /** Runs a tool like a session, with validated arguments and a wrapped result, for unit tests. */
  async call(name: string, args: unknown = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) throw this.#unknown(name);
    const { assigns = {}, signal, toolUseId, onRequest, ...listeners } = options;
    const meta = toolUseId === undefined ? {} : { 'claudecode/toolUseId': toolUseId };
    const answers = onRequest && { onRequest: async (request: ClientRequest) => onRequest(request) };
    const hasChannel = this.channel !== undefined;
    const ctx = new CallContext({ server: this.name, assigns, hasChannel, ...listeners, ...answers }, meta);
    const abort = () => ctx.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise((settle) => void runTool(tool, args, ctx, settle));
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Opens a session for one more user. */
  open(port: SessionPort): ToolSession {
    const session = new ToolSession(this, port, () => {
      this.#sessions.delete(session);
      this.#transports.delete(session);
    });
    this.#sessions.add(session);
    const instance = this.#instance;
    if (instance) session.share((it) => openForeignSession(instance.shared, it));
    return session;
  }

  /** Serves one session on an MCP transport; any number may be connected. */
  async connect(transport: Transport): Promise<void> {
    const open = (port: SessionPort) => {
      const session = this.open(port);
      this.#transports.set(session, transport);
      return session;
    };
    await serveTransport(open, transport, this.name);
  }

  /** Closes every open session and its transport. The server can be used again afterwards. */
  async close(): Promise<void> {
    const transports = [...this.#transports.values()];
    for (const session of [...this.#sessions]) session.close();
    await Promise.all(transports.map((transport) => transport.close()));
  }

  isConnected(): boolean {
    return this.#sessions.size > 0;
  }

  hasTransport(): boolean {
    return this.#transports.size > 0;
  }

  toolsList(): { tools: ListedTool[] } {
    this.#listed ??= { tools: [...this.#tools.values()].map((tool) => tool.listed) };
    return this.#listed;
  }

  initializeResult(protocolVersion: string = MCP_VERSIONS[0]): Record<string, unknown> {
    const { instructions } = this.options;
    return {
      protocolVersion,
      capabilities: this.capabilities,
      serverInfo: { name: this.name, version: this.version },
      ...(instructions !== undefined && { instructions }),
    };
  }

  get capabilities(): Record<string, object> {
    const hasResources = this.resources.size > 0 || this.resourceTemplates.length > 0;
    return {
      tools: { listChanged: true },
      ...(hasResources && { resources: canSubscribe(this) ? { subscribe: true } : {} }),
      ...(this.prompts.size > 0 && { prompts: {} }),
      ...(hasCompletions(this) && { completions: {} }),
      ...(this.options.logging && { logging: {} }),
      ...(this.channel && { experimental: this.channel.capabilities }),
    };
  }

  #add(definition: AnyTool): void {
    const tool = compileTool(definition, { alwaysLoad: this.options.alwaysLoad === true });
    const { name } = definition;
    const wireName = normalizeName(name);
    if (this.#instance?.hasTool(name)) throw this.#duplicate(name);
    for (const known of this.#tools.keys()) {
      if (known === name) throw this.#duplicate(name);
      if (normalizeName(known) === wireName) {
        throw new SdkError(
          'duplicate-tool',
          `server "${this.name}": the tools "${known}" and "${name}" both normalize to "${wireName}": rename one`,
        );
      }
    }
    this.#tools.set(name, tool);
    this.#listed = undefined;
  }

  /** Changes in the same tick are announced once, to the sessions open at that time; later sessions list the new tools anyway. */
  toolsChanged(): void {
    this.#listed = undefined;
    if (this.#stale.size === 0) queueMicrotask(() => this.#announce());
    for (const session of this.#sessions) this.#stale.add(session);
  }

  #announce(): void {
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const session of stale) session.notify('notifications/tools/list_changed');
  }

  #duplicate(name: string): SdkError {
    return new SdkError('duplicate-tool', `server "${this.name}" has two tools named "${name}": rename one`);
  }

  #unknown(name: string): SdkError {
    const known = [...this.#tools.keys()].map((tool) => `"${tool}"`).join(', ') || 'none';
    return new SdkError('unknown-tool', `server "${this.name}" has no tool "${name}"; it has ${known}`);
  }
}

const owners = new WeakMap<object, ToolServer>();

/** The tool server of an `McpServer` object that was made for it. */
export function ownerOf(instance: object): ToolServer | undefined {
  return owners.get(instance);
}

export type ToolServerOptions = {
  name: string;
  version?: string;
  /** Sent to the model as this server's instructions. */
  instructions?: string;
  tools?: readonly AnyTool[];
  resources?: readonly ResourceDefinition[];
  resourceTemplates?: readonly ResourceTemplateDefinition[];
  prompts?: readonly PromptDefinition[];
  /** Always send every tool of this server to the model instead of deferring it to tool search. */
  alwaysLoad?: boolean;
  /** An unknown tool is a JSON-RPC error −32602 instead of a failed result the model can read (C2). */
  strictProtocolErrors?: boolean;
  /** `resources/list` and `prompts/list` return empty lists if the server has none (C7). */
  emptyStubs?: boolean;
  /** Offer the logging capability, so that `ctx.log()` also reaches the agent. */
  logging?: boolean;
  /** Makes the server a channel: it can push messages into conversations, with `ctx.channel()` and `server.channel.send()`. */
  channel?: boolean | ChannelOptions;
};

/** Options of `createSdkMcpServer()` and `toolServer()`. */
export type SdkServerOptions = ToolServerOptions & { timeout?: number };

const OPTIONS: Required<{ [K in keyof SdkServerOptions]: Check }> = {
  name: string,
  version: string,
  instructions: string,
  tools: list,
  resources: list,
  resourceTemplates: list,
  prompts: list,
  alwaysLoad: boolean,
  strictProtocolErrors: boolean,
  emptyStubs: boolean,
  logging: boolean,
  channel: {
    what: 'true, false or an object',
    holds: (value) => typeof value === 'boolean' || isRecord(value),
  },
  timeout: {
    what: 'a number of milliseconds above 0',
    holds: (value) => Number.isFinite(value) && positiveNumber.holds(value),
  },
};

/** Throws for the first invalid option of a server. Tools are checked one by one when they are compiled. */
export function checkServerOptions(options: SdkServerOptions): void {
  if (typeof options?.name !== 'string' || options.name === '') {
    throw new SdkError('bad-server', 'The name of a tool server must be a non-empty string');
  }
  const fault = optionFault(options, OPTIONS) ?? elementFault(options);
  if (fault) throw new SdkError('bad-server', `server "${options.name}": ${fault}`);
}

function elementFault(options: SdkServerOptions): string | undefined {
  const { tools = [], resources = [], resourceTemplates = [], prompts = [] } = options;
  const bad = tools.findIndex((tool) => !isRecord(tool));
  if (bad >= 0) return `tools[${bad}] is ${describeValue(tools[bad])}; pass a value returned by tool()`;
  return (
    memberFault('resources', resources, { uri: 'string', name: 'string', read: 'function' }) ??
    memberFault('resourceTemplates', resourceTemplates, {
      uriTemplate: 'string',
      name: 'string',
      read: 'function',
    }) ??
    templateFault(resourceTemplates) ??
    memberFault('prompts', prompts, { name: 'string', get: 'function' })
  );
}

function templateFault(templates: readonly ResourceTemplateDefinition[]): string | undefined {
  for (const { uriTemplate } of templates) {
    try {
      parseTemplate(uriTemplate);
    } catch (cause) {
      return `the URI template ${JSON.stringify(uriTemplate)} is invalid: ${messageOf(cause)}`;
    }
  }
  return undefined;
}

function memberFault(
  option: string,
  elements: readonly unknown[],
  members: Record<string, 'string' | 'function'>,
): string | undefined {
  for (const [index, element] of elements.entries()) {
    const found = isRecord(element) ? element : {};
    for (const [member, type] of Object.entries(members)) {
      const value = found[member];
      if (typeof value !== type || value === '') return `${option}[${index}] needs "${member}", a ${type}`;
    }
  }
  return undefined;
}
