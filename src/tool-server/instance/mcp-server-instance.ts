import { createRequire } from 'node:module';
import type { McpServer, RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import { CallContext, type CallPort } from '../context.ts';
import type { ForeignServer } from '../foreign-server.ts';
import {
  METHODS,
  type Offering,
  type PromptDefinition,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
} from '../methods.ts';
import { runTool } from '../run-tool.ts';
import type { Transport as SessionTransport } from '../serving/serve.ts';
import type { CompiledTool } from '../tool.ts';

/** The tool server that an `McpServer` object represents. */
export type InstanceOwner = Offering & {
  readonly version: string;
  readonly capabilities: Record<string, object>;
  readonly options: { readonly instructions?: string };
  connect(transport: SessionTransport): Promise<void>;
  close(): Promise<void>;
  isConnected(): boolean;
  /** Whether a transport is connected, apart from queries that use the server. */
  hasTransport(): boolean;
  toolsChanged(): void;
};

/**
 * The `McpServer` object of a tool server: the class of the official MCP SDK with all tools, resources and prompts of the
 * server.
 */
export type McpServerInstance = McpServer & {
  /** Connects sessions of the tool server to this object; they share one connection. */
  readonly shared: ForeignServer;
  /** Registers a tool that was added to the tool server. */
  adopt(tool: CompiledTool): void;
  /** Removes the registration of a tool that was removed from the tool server. */
  discard(name: string): void;
  hasTool(name: string): boolean;
  /**
   * Whether calls of a tool may bypass this object: the program has changed neither the tool nor the way in which messages
   * reach it.
   */
  isDirect(name: string): boolean;
};

type InstanceClass = new (owner: InstanceOwner, tools: Iterable<CompiledTool>) => McpServerInstance;

/** Creates the `McpServer` object of a tool server. The class is loaded at the first use, because that takes time. */
export function createMcpServerInstance(
  owner: InstanceOwner,
  tools: Iterable<CompiledTool>,
): McpServerInstance {
  instanceClass ??= defineClass(createRequire(import.meta.url)('./mcp-core.ts'));
  return new instanceClass(owner, tools);
}

let instanceClass: InstanceClass | undefined;

/** A tool of the tool server, and its registration as it was made. */
type OwnTool = { tool: CompiledTool; registered: RegisteredTool; schema: unknown };
type Handler = (request: object, extra: object) => Promise<object>;
/** The second argument of callbacks of the official class. */
type Extra = {
  signal: AbortSignal;
  requestId: string | number;
  _meta?: Record<string, unknown>;
  sendNotification(notification: never): Promise<void>;
  sendRequest(request: never, schema: never): Promise<Record<string, unknown>>;
};

/** Answers of clients to elicitation requests are not checked again, which saves loading a JSON Schema validator. */
const UNCHECKED = {
  getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }),
} as jsonSchemaValidator;

function defineClass(sdk: typeof import('./mcp-core.ts')): InstanceClass {
  // Its members are ordinary properties, since programs may wrap the object in a `Proxy`.
  return class McpServer extends sdk.McpServer implements McpServerInstance {
    readonly shared: ForeignServer;
    private readonly owner: InstanceOwner;
    private readonly own = new Map<string, OwnTool>();
    private readonly internalTransports = new WeakSet<object>();
    private readonly callHandler: unknown;
    private readonly isComplete: boolean;

    constructor(owner: InstanceOwner, tools: Iterable<CompiledTool>) {
      const { name, version, options, capabilities } = owner;
      super(
        { name, version },
        {
          capabilities,
          ...(options.instructions !== undefined && { instructions: options.instructions }),
          jsonSchemaValidator: UNCHECKED,
        },
      );
      this.owner = owner;
      this.shared = {
        connect: (transport: Transport) => {
          this.internalTransports.add(transport);
          return this.connect(transport);
        },
        close: () => super.close(),
      };
      for (const tool of tools) this.adopt(tool);
      for (const resource of owner.resources.values()) this.addResource(resource);
      for (const template of owner.resourceTemplates) this.addTemplate(template);
      for (const prompt of owner.prompts.values()) this.addPrompt(prompt);
      this.callHandler = this.serveOwnTools();
      this.isComplete = true;
    }

    adopt(tool: CompiledTool): void {
      const { definition, listed } = tool;
      const { name, title, description, annotations, inputSchema } = definition;
      const config = {
        description,
        ...(title !== undefined && { title }),
        ...(annotations && { annotations }),
        ...(listed._meta && { _meta: listed._meta }),
      };
      const registered = this.registerOwn(name, config, inputSchema, definition.handler as never);
      this.own.set(name, { tool, registered, schema: registered.inputSchema });
    }

    discard(name: string): void {
      const own = this.own.get(name);
      this.own.delete(name);
      if (own && this.registrations[name] === own.registered) own.registered.remove();
    }

    hasTool(name: string): boolean {
      return Object.hasOwn(this.registrations, name);
    }

    isDirect(name: string): boolean {
      const isIntercepted =
        Object.hasOwn(this, 'connect') || this.handlers.get('tools/call') !== this.callHandler;
      return !isIntercepted && this.unchangedTool(name) !== undefined;
    }

    override async connect(transport: Transport): Promise<void> {
      if (this.internalTransports.has(transport)) return super.connect(transport);
      if (this.owner.hasTransport()) {
        // The text of the official class.
        throw new Error(
          'Already connected to a transport. Call close() before connecting to a new transport, or use a separate Protocol instance per connection.',
        );
      }
      await this.owner.connect(transport as never);
    }

    override async close(): Promise<void> {
      await this.owner.close();
      await super.close();
    }

    override isConnected(): boolean {
      return this.owner.isConnected();
    }

    override sendToolListChanged(): void {
      if (this.isComplete) this.owner.toolsChanged();
    }

    override sendResourceListChanged(): void {
      if (this.server.transport) super.sendResourceListChanged();
    }

    override sendPromptListChanged(): void {
      if (this.server.transport) super.sendPromptListChanged();
    }

    private get registrations(): Record<string, RegisteredTool> {
      // The official class has no public list of its tools.
      return (this as unknown as { _registeredTools: Record<string, RegisteredTool> })._registeredTools;
    }

    private get handlers(): ReadonlyMap<string, unknown> {
      return (this.server as unknown as { _requestHandlers: Map<string, unknown> })._requestHandlers;
    }

    private unchangedTool(name: string): CompiledTool | undefined {
      const own = this.own.get(name);
      if (!own || this.registrations[name] !== own.registered) return undefined;
      const { enabled, handler, inputSchema } = own.registered;
      const isChanged = !enabled || handler !== own.tool.definition.handler || inputSchema !== own.schema;
      return isChanged ? undefined : own.tool;
    }

    /** The schema is registered if the official class can list it; the tool server lists and validates every kind. */
    private registerOwn(name: string, config: object, schema: unknown, handler: never): RegisteredTool {
      try {
        const registered = this.registerTool(name, { ...config, inputSchema: schema as never }, handler);
        if (registered.inputSchema) sdk.toJsonSchemaCompat(registered.inputSchema as never);
        return registered;
      } catch {
        delete this.registrations[name];
        return this.registerTool(name, config, handler);
      }
    }

    /** Unchanged tools are listed and run by the tool server, also when a message reaches them through this object. */
    private serveOwnTools(): unknown {
      const list = this.handlers.get('tools/list') as Handler;
      const call = this.handlers.get('tools/call') as Handler;
      this.server.setRequestHandler(sdk.ListToolsRequestSchema, async (request, extra) => {
        const listed = (await list(request, extra)) as ListToolsResult;
        const tools = listed.tools.map((it) => this.unchangedTool(it.name)?.listed ?? it);
        return { ...listed, tools } as ListToolsResult;
      });
      this.server.setRequestHandler(sdk.CallToolRequestSchema, async (request, extra) => {
        const tool = this.unchangedTool(request.params.name);
        if (!tool) return (await call(request, extra)) as CallToolResult;
        const ctx = this.contextOf(extra as never);
        return new Promise<CallToolResult>((settle) => {
          void runTool(tool, request.params.arguments ?? {}, ctx, (result) =>
            settle(result as CallToolResult),
          );
        });
      });
      return this.handlers.get('tools/call');
    }

    private addResource({ uri, name, title, description, mimeType }: ResourceDefinition): void {
      const metadata = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mimeType }),
      };
      this.registerResource(name, uri, metadata, (_, extra) =>
        this.answer('resources/read', { uri }, extra as never),
      );
    }

    private addTemplate({
      uriTemplate,
      name,
      title,
      description,
      mimeType,
    }: ResourceTemplateDefinition): void {
      const metadata = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mimeType }),
      };
      const template = new sdk.ResourceTemplate(uriTemplate, { list: undefined });
      this.registerResource(name, template, metadata, (uri, _, extra) =>
        this.answer('resources/read', { uri: uri.href }, extra as never),
      );
    }

    private addPrompt({ name, title, description, arguments: args = [] }: PromptDefinition): void {
      const config = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
      };
      if (args.length === 0) {
        this.registerPrompt(name, config, (extra: object) =>
          this.answer('prompts/get', { name }, extra as never),
        );
        return;
      }
      const argsSchema = Object.fromEntries(
        args.map((it) => {
          const text = it.description === undefined ? sdk.string() : sdk.string().describe(it.description);
          return [it.name, it.required ? text : text.optional()];
        }),
      );
      this.registerPrompt(name, { ...config, argsSchema }, (given: object, extra: object) =>
        this.answer('prompts/get', { name, arguments: given }, extra as never),
      );
    }

    private async answer(method: string, params: Record<string, unknown>, extra: Extra): Promise<never> {
      return (await METHODS[method]?.(this.owner, params, this.contextOf(extra))) as never;
    }

    private contextOf({ signal, _meta = {}, requestId, sendNotification, sendRequest }: Extra): CallContext {
      const notify = (method: string, params?: object) =>
        sendNotification({ method, ...(params && { params }) } as never);
      const port: CallPort = {
        server: this.owner.name,
        assigns: {},
        onProgress: (progress, { progressToken }) => {
          if (progressToken !== undefined)
            void notify('notifications/progress', { progressToken, ...progress });
        },
        onNotification: notify,
        clientCapabilities: this.server.getClientCapabilities(),
        onRequest: async ({ method, params }) => {
          try {
            return await sendRequest({ method, params } as never, sdk.ResultSchema as never);
          } catch (cause) {
            const message = `The request ${method} to the client failed: ${messageOf(cause)}`;
            throw new SdkError('client-request-failed', message, { cause });
          }
        },
      };
      const ctx = new CallContext(port, _meta, requestId);
      signal.addEventListener('abort', () => ctx.abort(signal.reason), { once: true });
      return ctx;
    }
  };
}
