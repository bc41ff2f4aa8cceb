import assert from 'node:assert/strict';
// #region program
import { query, toolServer } from 'toolplane';
import { z } from 'zod';

const stock = new Map([['teapot', 7]]);

const shop = toolServer('shop').tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  ({ item }) => `${stock.get(item) ?? 0} in stock`,
);

const conversation = query({
  prompt: 'Call count_stock with {"item": "teapot"}',
  options: {
    model: 'rehearsal', // offline stand-in; remove this line to use a real model
    mcpServers: { shop },
    allowedTools: ['mcp__shop'],
    persistSession: false, // do not store the conversation
  },
});

for await (const message of conversation) {
  if (message.type !== 'result') continue;
  console.log(message.subtype === 'success' ? message.result : message.errors);
}
// #endregion

assert.equal(stock.get('teapot'), 7);
