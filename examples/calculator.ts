import assert from 'node:assert/strict';
// #region program
import { createSdkMcpServer, query, tool } from 'toolplane';
import { z } from 'zod';
// #endregion
import { openAgent, text, toolUse } from './agent.ts';

await using agent = await openAgent([
  toolUse('mcp__calc__add', { a: 2, b: 40 }),
  toolUse('mcp__calc__divide', { a: 42, b: 0 }),
  text('The sum is 42. Dividing it by zero is not possible.'),
]);

// #region program
// #region tools
const add = tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

const divide = tool('divide', 'Divide a by b', { a: z.number(), b: z.number() }, ({ a, b }) => {
  if (b === 0) throw new Error('Cannot divide by zero');
  return a / b;
});
// #endregion

const uses: string[] = [];
const conversation = query({
  prompt: 'Add 2 and 40. Then try to divide the sum by 0. Use the tools, and tell me both outcomes.',
  options: {
    ...agent.options,
    mcpServers: { calc: createSdkMcpServer({ name: 'calc', tools: [add, divide] }) },
    allowedTools: ['mcp__calc'],
    onToolUse: ({ name, isError }) => uses.push(`${name} ${isError ? 'failed' : 'succeeded'}`),
  },
});

for await (const message of conversation) {
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result);
}
console.log(uses);
// #endregion

assert.deepEqual(uses, ['mcp__calc__add succeeded', 'mcp__calc__divide failed']);
