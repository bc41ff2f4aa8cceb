import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools } from '../../test/support/model-api/model-view.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__hand__greet', { name: 'Ada' }), text('Greeted.')];

/** A server built by hand with version 2 of the MCP SDK; the official types know only version 1. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const server = new McpServer({ name: 'by-hand', version: '2.0.0' });
  server.registerTool(
    'greet',
    { description: 'Greets', inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => ({ content: [{ type: 'text', text: `Hello, ${name}` }] }),
  );
  const instance = server as unknown as McpSdkServerConfigWithInstance['instance'];
  const query = sdk.query({
    prompt: 'Greet Ada.',
    options: {
      ...options(sandbox),
      mcpServers: { hand: { type: 'sdk', name: 'hand', instance } },
      allowedTools: ['mcp__hand'],
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox), offered: offeredTools(sandbox.api.requests[0]) };
}
