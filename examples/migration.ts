// A program written for the official SDK: only the import differs. Here Toolplane's own agent runs it, offline.
import assert from 'node:assert/strict';

// #region program
import { createSdkMcpServer, query, tool } from 'toolplane';
import { z } from 'zod';

const greet = tool('greet', 'Greet a person', { name: z.string() }, async ({ name }) => ({
  content: [{ type: 'text', text: `Hello, ${name}!` }],
}));

const results: string[] = [];
for await (const message of query({
  prompt: 'Call greet with {"name": "Ada"}',
  options: {
    model: 'rehearsal', // offline stand-in; remove this line to use a real model
    mcpServers: { people: createSdkMcpServer({ name: 'people', version: '1.0.0', tools: [greet] }) },
    allowedTools: ['mcp__people__greet'],
    persistSession: false,
  },
})) {
  if (message.type === 'result' && message.subtype === 'success') results.push(message.result);
}
console.log(results);
// #endregion

assert.match(String(results), /Hello, Ada!/);
