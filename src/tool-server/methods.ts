import { INVALID_PARAMS, RpcMethodError } from '../protocol/json-rpc.ts';
import { type ListedTool, negotiateVersion, type ResourceContents } from '../protocol/mcp.ts';
import type { CallContext, ToolContext } from './context.ts';
import type { CompiledTool } from './tool.ts';

type Method = (
  server: Offering,
  params: Record<string, unknown>,
  ctx: CallContext,
) => Record<string, unknown> | undefined | Promise<Record<string, unknown>>;

/** Methods of a tool server beside `tools/call`; a handler returns undefined if the server lacks the feature. Without a prototype, so that `toString` is not found. */
export const METHODS: { readonly [name: string]: Method | undefined } = {
  __proto__: null as never,
  initialize: (server, params) => server.initializeResult(negotiateVersion(params.protocolVersion)),
  ping: () => ({}),
  'tools/list': (server) => server.toolsList(),
  'resources/list': (server) => {
    if (server.resources.size === 0 && !server.options.emptyStubs) return undefined;
    return { resources: [...server.resources.values()].map(listResource) };
  },
  'resources/templates/list': (server) => {
    return server.resources.size === 0 && !server.options.emptyStubs ? undefined : { resourceTemplates: [] };
  },
  'resources/read': (server, params, ctx) => {
    if (server.resources.size === 0) return undefined;
    const resource = server.resources.get(String(params.uri));
    if (!resource) throw new RpcMethodError(INVALID_PARAMS, `Resource '${params.uri}' not found`);
    return Promise.resolve(resource.read(ctx)).then((reading) => ({
      contents: resourceContents(resource, reading),
    }));
  },
  'prompts/list': (server) => {
    if (server.prompts.size === 0 && !server.options.emptyStubs) return undefined;
    return { prompts: [...server.prompts.values()].map(listPrompt) };
  },
  'prompts/get': (server, params, ctx) => {
    if (server.prompts.size === 0) return undefined;
    const prompt = server.prompts.get(String(params.name));
    if (!prompt) throw new RpcMethodError(INVALID_PARAMS, `Prompt '${params.name}' not found`);
    const args = (params.arguments ?? {}) as Record<string, string>;
    const missing = prompt.arguments?.find(
      (argument) => argument.required && args[argument.name] === undefined,
    );
    if (missing)
      throw new RpcMethodError(
        INVALID_PARAMS,
        `Prompt '${prompt.name}' requires the argument '${missing.name}'`,
      );
    return Promise.resolve(prompt.get(args, ctx)).then((reading) => ({
      ...(prompt.description && { description: prompt.description }),
      messages: promptMessages(reading),
    }));
  },
};

/** The part of a server that a session reads. */
export type Offering = {
  readonly name: string;
  readonly options: {
    readonly strictProtocolErrors?: boolean;
    readonly emptyStubs?: boolean;
    readonly logging?: boolean;
  };
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  find(name: string): CompiledTool | undefined;
  toolsList(): { tools: ListedTool[] };
  initializeResult(protocolVersion: string): Record<string, unknown>;
};

/** A resource that a server offers. `read` returns text, bytes, or complete MCP contents. */
export type ResourceDefinition = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  read(ctx: ToolContext): ResourceReading | Promise<ResourceReading>;
};

type ResourceReading = string | Uint8Array | ResourceContents[];

type PromptMessage = {
  role: 'user' | 'assistant';
  content: { type: string; [member: string]: unknown };
};

/** A prompt that a server offers. `get` returns messages, or a string, which becomes one user message. */
export type PromptDefinition = {
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; description?: string; required?: boolean }[];
  get(args: Record<string, string>, ctx: ToolContext): PromptReading | Promise<PromptReading>;
};

type PromptReading = string | PromptMessage[];

function listResource({ read: _, ...listed }: ResourceDefinition): Record<string, unknown> {
  return listed;
}

function listPrompt({ get: _, ...listed }: PromptDefinition): Record<string, unknown> {
  return listed;
}

function resourceContents(resource: ResourceDefinition, reading: ResourceReading): ResourceContents[] {
  const base = { uri: resource.uri, ...(resource.mimeType && { mimeType: resource.mimeType }) };
  if (typeof reading === 'string') return [{ ...base, text: reading }];
  if (reading instanceof Uint8Array) return [{ ...base, blob: Buffer.from(reading).toString('base64') }];
  return reading;
}

function promptMessages(reading: PromptReading): PromptMessage[] {
  return typeof reading === 'string' ? [{ role: 'user', content: { type: 'text', text: reading } }] : reading;
}
