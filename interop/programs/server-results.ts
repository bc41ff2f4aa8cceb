import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__shop__plain', {}),
  toolUse('mcp__shop__structured', {}),
  toolUse('mcp__shop__marked', {}),
  toolUse('mcp__shop__empty', {}),
  toolUse('mcp__shop__linked', {}),
  toolUse('mcp__shop__failing', {}),
  toolUse('ListMcpResourcesTool', {}),
  toolUse('ReadMcpResourceTool', { server: 'shop', uri: 'shop://hours' }),
  text('Done.'),
];

/** Hooks get the content of a server's result; messages also get its structure, its marks and its links. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const hooked: unknown[] = [];
  const results: unknown[] = [];
  const record = async (input: object) => {
    const { hook_event_name: event, tool_name: name, tool_response, tool_calls, error } = input as Hooked;
    hooked.push({ event, name, tool_response, error, batch: tool_calls?.map((it) => it.tool_name) });
    return {};
  };
  const query = sdk.query({
    prompt: 'Use the tools.',
    options: {
      ...options(sandbox),
      tools: ['ListMcpResourcesTool', 'ReadMcpResourceTool'],
      mcpServers: { shop: { type: 'sdk', name: 'shop', instance: shop() } },
      canUseTool: async (_name, input) => ({ behavior: 'allow', updatedInput: input }),
      hooks: {
        PostToolUse: [{ hooks: [record] }],
        PostToolUseFailure: [{ hooks: [record] }],
        PostToolBatch: [{ hooks: [record] }],
      },
    },
  });
  for await (const message of query) {
    if (message.type === 'user') results.push(message.tool_use_result);
  }
  return { hooked, results };
}

type Hooked = {
  hook_event_name: string;
  tool_name?: string;
  tool_response?: unknown;
  tool_calls?: { tool_name: string }[];
  error?: string;
};

function shop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const content = (...texts: string[]) => texts.map((it) => ({ type: 'text' as const, text: it }));
  server.registerTool('plain', {}, async () => ({ content: content('one', 'two') }));
  server.registerTool('structured', { outputSchema: { n: z.number() } }, async () => ({
    content: content('{"n":1}'),
    structuredContent: { n: 1 },
  }));
  server.registerTool('marked', {}, async () => ({ content: content('one'), _meta: { mark: 1 } }));
  server.registerTool('empty', {}, async () => ({ content: [] }));
  server.registerTool('linked', {}, async () => ({
    content: [{ type: 'resource_link', uri: 'shop://hours', name: 'Hours' }],
  }));
  server.registerTool('failing', {}, async () => ({ isError: true, content: content('closed') }));
  const hours = { uri: 'shop://hours', mimeType: 'text/plain', text: '9 to 5' };
  server.registerResource(
    'hours',
    hours.uri,
    { mimeType: hours.mimeType, description: 'When' },
    async () => ({
      contents: [hours],
    }),
  );
  return server;
}
