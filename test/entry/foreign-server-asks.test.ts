import { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { query } from '../../src/entry/index.ts';
import { collect } from '../support/collect.ts';

/** A server of the official MCP SDK whose tool sends elicitation and sampling requests during a call. */
function desk(): McpServer {
  const server = new McpServer({ name: 'desk', version: '1' });
  server.registerTool('greet', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const asked = await mcpReq.elicitInput({
      mode: 'form',
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    const said = await mcpReq.requestSampling({
      messages: [{ role: 'user', content: { type: 'text', text: 'list tools' } }],
      maxTokens: 100,
    });
    return { content: [{ type: 'text', text: JSON.stringify({ asked, said }) }] };
  });
  return server;
}

test("an McpServer instance can use elicitation and sampling through Toolplane's host", async () => {
  const questions: unknown[] = [];
  const messages = await collect(
    query({
      prompt: 'call greet',
      options: {
        model: 'rehearsal',
        persistSession: false,
        tools: [],
        mcpServers: { desk: { type: 'sdk', name: 'desk', instance: desk() } },
        allowedTools: ['mcp__desk'],
        onElicitation: async (request) => {
          questions.push(request);
          return { action: 'accept', content: { name: 'Ada' } };
        },
      },
    }),
  );
  expect(questions).toMatchObject([{ serverName: 'desk', message: 'Your name?', mode: 'form' }]);
  const result = messages.at(-1) as { result: string };
  expect(result.result).toContain('"asked":{"action":"accept","content":{"name":"Ada"}}');
  expect(result.result).toContain('I was given no tools.');
});
