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
    model: 'rehearsal', // offline, follows a few fixed phrases; without this line a real model answers
    mcpServers: { shop },
    allowedTools: ['mcp__shop'],
    persistSession: false, // the conversation is not kept
  },
});

for await (const message of conversation) {
  if (message.type !== 'result') continue;
  console.log(message.subtype === 'success' ? message.result : message.errors);
}
// #endregion

assert.equal(stock.get('teapot'), 7);
