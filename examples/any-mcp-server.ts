// Servers of the official MCP SDK are used unchanged: version 1 or 2, an instance or a factory.
import assert from 'node:assert/strict';
import { query } from 'toolplane';
import { z } from 'zod';
// This example imports from interop/; in your project, import '@modelcontextprotocol/server'.
import { McpServer } from '../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { openAgent, text, together, toolUse } from './agent.ts';

// #region server
function makeGreeter(greeting: string): McpServer {
  const server = new McpServer({ name: 'greeter', version: '1.0.0' });
  server.registerTool(
    'greet',
    { description: `Says "${greeting}"`, inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => ({ content: [{ type: 'text', text: `${greeting}, ${name}` }] }),
  );
  return server;
}
// #endregion

await using agent = await openAgent([
  together(toolUse('mcp__shared__greet', { name: 'Ada' }), toolUse('mcp__own__greet', { name: 'Ada' })),
  text('Greeted twice.'),
]);

const uses: string[] = [];
// #region query
const conversation = query({
  prompt: 'Greet Ada with both tools.',
  options: {
    ...agent.options,
    mcpServers: {
      // An McpServer that you create has one session, which all queries share.
      shared: { type: 'sdk', name: 'shared', instance: makeGreeter('Hello') },
      // A function creates a server for each query.
      own: { type: 'sdk', name: 'own', instance: () => makeGreeter('Hei') },
    },
    allowedTools: ['mcp__shared', 'mcp__own'],
    onToolUse: ({ name, result }) => uses.push(`${name} → ${JSON.stringify(result)}`),
  },
});
for await (const _ of conversation);
// #endregion

console.log(uses.toSorted().join('\n'));
assert.equal(uses.length, 2);
assert.match(uses.join(), /Hello, Ada/);
assert.match(uses.join(), /Hei, Ada/);
