import { INVALID_PARAMS, RpcFault } from '../protocol/json-rpc.ts';
import { negotiateVersion } from '../protocol/mcp.ts';
import type { CallContext } from './context.ts';
import { listPrompt, listResource, type Offering, promptMessages, resourceContents } from './offer.ts';

type Method = (
  server: Offering,
  params: Record<string, unknown>,
  ctx: CallContext,
) => Record<string, unknown> | undefined | Promise<Record<string, unknown>>;

/** What a tool server answers beside `tools/call`; `undefined` means it has no such method. No prototype: `toString` is no method. */
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
    if (!resource) throw new RpcFault(INVALID_PARAMS, `Resource '${params.uri}' not found`);
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
    if (!prompt) throw new RpcFault(INVALID_PARAMS, `Prompt '${params.name}' not found`);
    const args = (params.arguments ?? {}) as Record<string, string>;
    const missing = prompt.arguments?.find(
      (argument) => argument.required && args[argument.name] === undefined,
    );
    if (missing)
      throw new RpcFault(INVALID_PARAMS, `Prompt '${prompt.name}' needs the argument '${missing.name}'`);
    return Promise.resolve(prompt.get(args, ctx)).then((reading) => ({
      ...(prompt.description && { description: prompt.description }),
      messages: promptMessages(reading),
    }));
  },
};
