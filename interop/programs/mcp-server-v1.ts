import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools } from '../../test/support/model-api/model-view.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__hand__greet', { name: 'Ada' }), text('Greeted.')];

/** A server built by hand with version 1 of the MCP SDK is served like one of `createSdkMcpServer()`. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const server = new McpServer({ name: 'by-hand', version: '1.0.0' });
  server.registerTool(
    'greet',
    {
      title: 'Greeter',
      description: 'Greets',
      inputSchema: { name: z.string() },
      outputSchema: { greeting: z.string() },
    },
    async ({ name }) => ({
      content: [{ type: 'text', text: `Hello, ${name}` }],
      structuredContent: { greeting: `Hello, ${name}` },
    }),
  );
  const query = sdk.query({
    prompt: 'Greet Ada.',
    options: {
      ...options(sandbox),
      mcpServers: { hand: { type: 'sdk', name: 'hand', instance: server } },
      allowedTools: ['mcp__hand'],
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox), offered: offeredTools(sandbox.api.requests[0]) };
}
