import { isRecord } from '../base/json-value.ts';
import { INVALID_PARAMS, RpcMethodError } from '../protocol/json-rpc.ts';
import { type ListedTool, negotiateVersion, type ResourceContents } from '../protocol/mcp.ts';
import type { CallContext, ToolContext } from './context.ts';
import type { ToolServerChannel } from './serving/channel.ts';
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
    if (!hasResources(server) && !server.options.emptyStubs) return undefined;
    return { resources: [...server.resources.values()].map(listResource) };
  },
  'resources/templates/list': (server) => {
    if (!hasResources(server) && !server.options.emptyStubs) return undefined;
    return { resourceTemplates: server.resourceTemplates.map(listTemplate) };
  },
  'resources/read': (server, params, ctx) => {
    if (!hasResources(server)) return undefined;
    const uri = String(params.uri);
    const found = findResource(server, uri);
    if (!found) throw resourceNotFound(uri);
    return Promise.resolve(found.read(ctx)).then((reading) => ({
      contents: resourceContents(uri, found.mimeType, reading),
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
  'completion/complete': (server, params) => {
    if (!hasCompletions(server)) return undefined;
    const { ref, argument, context } = params as CompletionParams;
    if (typeof argument?.name !== 'string' || typeof argument.value !== 'string') {
      throw new RpcMethodError(
        INVALID_PARAMS,
        'completion/complete needs an argument with a name and a value',
      );
    }
    const complete = completerOf(server, ref, argument.name);
    const given = isRecord(context?.arguments) ? (context.arguments as Record<string, string>) : {};
    return Promise.resolve(complete?.(argument.value, { arguments: given }) ?? []).then((values) => ({
      completion: {
        values: values.slice(0, MAX_COMPLETIONS),
        total: values.length,
        hasMore: values.length > MAX_COMPLETIONS,
      },
    }));
  },
};

/** The maximum number of values that MCP allows in one completion. */
const MAX_COMPLETIONS = 100;

type CompletionParams = {
  ref?: { type?: unknown; name?: unknown; uri?: unknown };
  argument?: { name?: unknown; value?: unknown };
  context?: { arguments?: unknown };
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
  readonly resourceTemplates: readonly ResourceTemplateDefinition[];
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  /** The channel of the server, if it has one. */
  readonly channel?: ToolServerChannel | undefined;
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
  /**
   * Called when a client subscribes to the resource. Call `onUpdate` whenever the content has changed; the returned
   * function is called when the subscription ends. Clients can read a resource without `subscribe`, but are not notified
   * when its content changes.
   */
  subscribe?(onUpdate: () => void): () => void;
};

/**
 * Resources whose URIs fit a template, for example `notes://{id}`. `{name}` matches characters other than `/`, `{+name}`
 * all characters; `read` gets their values, decoded.
 */
export type ResourceTemplateDefinition = {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Suggests values of the variables. */
  complete?: { [variable: string]: CompleteArgument };
  read(variables: Record<string, string>, ctx: ToolContext): ResourceReading | Promise<ResourceReading>;
};

/** Suggests values that complete what the user has typed; `context.arguments` has the values of other arguments. */
export type CompleteArgument = (
  value: string,
  context: { readonly arguments: Readonly<Record<string, string>> },
) => readonly string[] | Promise<readonly string[]>;

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
  arguments?: { name: string; description?: string; required?: boolean; complete?: CompleteArgument }[];
  get(args: Record<string, string>, ctx: ToolContext): PromptReading | Promise<PromptReading>;
};

type PromptReading = string | PromptMessage[];

function hasResources({ resources, resourceTemplates }: Offering): boolean {
  return resources.size > 0 || resourceTemplates.length > 0;
}

/** Whether the content of any resource can change. */
export function canSubscribe({ resources }: Pick<Offering, 'resources'>): boolean {
  return [...resources.values()].some((resource) => resource.subscribe);
}

/** Whether a request concerns something of the server itself that its `McpServer` object does not support. */
export function isOwnRequest(server: Offering, method: string, params: Record<string, unknown>): boolean {
  if (method === 'completion/complete') {
    const { ref } = params as CompletionParams;
    const isTemplate = server.resourceTemplates.some(({ uriTemplate }) => uriTemplate === ref?.uri);
    return hasCompletions(server) && (server.prompts.has(String(ref?.name)) || isTemplate);
  }
  const isSubscription = method === 'resources/subscribe' || method === 'resources/unsubscribe';
  return isSubscription && canSubscribe(server) && findResource(server, String(params.uri)) !== undefined;
}

export function hasCompletions({
  prompts,
  resourceTemplates,
}: Pick<Offering, 'prompts' | 'resourceTemplates'>): boolean {
  const isCompleted = (prompt: PromptDefinition) => prompt.arguments?.some((it) => it.complete) === true;
  return [...prompts.values()].some(isCompleted) || resourceTemplates.some((it) => it.complete);
}

type FoundResource = Pick<ResourceDefinition, 'mimeType' | 'read' | 'subscribe'>;

/** The resource with a URI, or the first template that the URI fits. */
export function findResource(server: Offering, uri: string): FoundResource | undefined {
  const resource = server.resources.get(uri);
  if (resource) return resource;
  for (const template of server.resourceTemplates) {
    const variables = matchUri(parseTemplate(template.uriTemplate), uri);
    if (variables) {
      const read = (ctx: ToolContext) => template.read(variables, ctx);
      return template.mimeType === undefined ? { read } : { mimeType: template.mimeType, read };
    }
  }
  return undefined;
}

export function resourceNotFound(uri: string): RpcMethodError {
  return new RpcMethodError(INVALID_PARAMS, `Resource '${uri}' not found`, { uri });
}

function completerOf(
  { prompts, resourceTemplates }: Offering,
  ref: CompletionParams['ref'],
  argument: string,
): CompleteArgument | undefined {
  if (ref?.type === 'ref/prompt') {
    const prompt = prompts.get(String(ref.name));
    if (!prompt) throw new RpcMethodError(INVALID_PARAMS, `Prompt '${ref.name}' not found`);
    return prompt.arguments?.find(({ name }) => name === argument)?.complete;
  }
  const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate === ref?.uri);
  if (ref?.type !== 'ref/resource' || !template) {
    throw new RpcMethodError(
      INVALID_PARAMS,
      'completion/complete needs the ref of a prompt or resource template',
    );
  }
  const { complete = {} } = template;
  return Object.hasOwn(complete, argument) ? complete[argument] : undefined;
}

/** The texts around the variables of a template: always one more than there are variables. */
type ParsedTemplate = {
  readonly literals: readonly string[];
  readonly variables: readonly { readonly name: string; readonly hasSlashes: boolean }[];
};

/** Throws for expressions other than `{name}` and `{+name}`, and for variables without a text between them. */
export function parseTemplate(template: string): ParsedTemplate {
  const parts = template.split(/\{(\+?\w+)\}/);
  const literals = parts.filter((_, index) => index % 2 === 0);
  const names = parts.filter((_, index) => index % 2 === 1);
  if (names.length === 0) throw new Error('it has no variable like {name}');
  if (literals.some((literal) => /[{}]/.test(literal)))
    throw new Error('only {name} and {+name} are supported');
  if (literals.slice(1, -1).includes('')) throw new Error('two variables must be separated by other text');
  return {
    literals,
    variables: names.map((name) => ({ name: name.replace('+', ''), hasSlashes: name.startsWith('+') })),
  };
}

/** The values of the variables if a URI fits; each is as short as possible. Takes time linear in the length of the URI. */
function matchUri({ literals, variables }: ParsedTemplate, uri: string): Record<string, string> | undefined {
  const [first = ''] = literals;
  if (!uri.startsWith(first)) return undefined;
  let at = first.length;
  const values: [string, string][] = [];
  for (const [index, { name, hasSlashes }] of variables.entries()) {
    const literal = literals[index + 1] ?? '';
    const isLast = index === variables.length - 1;
    const end = isLast ? uri.length - literal.length : uri.indexOf(literal, at + 1);
    const value = uri.slice(at, end);
    if (end <= at || !uri.startsWith(literal, end) || (!hasSlashes && value.includes('/'))) return undefined;
    values.push([name, decoded(value)]);
    at = end + literal.length;
  }
  return Object.fromEntries(values);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function listResource({ read: _, subscribe: __, ...listed }: ResourceDefinition): Record<string, unknown> {
  return listed;
}

function listTemplate({ read: _, complete: __, ...listed }: ResourceTemplateDefinition): object {
  return listed;
}

function listPrompt({ get: _, arguments: args, ...listed }: PromptDefinition): Record<string, unknown> {
  return args ? { ...listed, arguments: args.map(({ complete: __, ...argument }) => argument) } : listed;
}

function resourceContents(
  uri: string,
  mimeType: string | undefined,
  reading: ResourceReading,
): ResourceContents[] {
  const base = { uri, ...(mimeType && { mimeType }) };
  if (typeof reading === 'string') return [{ ...base, text: reading }];
  if (reading instanceof Uint8Array) return [{ ...base, blob: Buffer.from(reading).toString('base64') }];
  return reading;
}

function promptMessages(reading: PromptReading): PromptMessage[] {
  return typeof reading === 'string' ? [{ role: 'user', content: { type: 'text', text: reading } }] : reading;
}
