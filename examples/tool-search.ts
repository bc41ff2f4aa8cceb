// Many tools: the model receives none of them, searches for what it needs, and calls what it found.
import assert from 'node:assert/strict';
import { AgentClient, createSdkMcpServer, tool } from 'toolplane';
import { z } from 'zod';

const THINGS = [
  'article',
  'supplier',
  'order',
  'invoice',
  'shipment',
  'return',
  'voucher',
  'customer',
  'employee',
];
const DEEDS = { create: 'Creates', list: 'Lists', update: 'Changes', delete: 'Deletes' };

/** A server with a tool for every action on every object of a shop. */
const shop = createSdkMcpServer({
  name: 'shop',
  tools: THINGS.flatMap((thing) =>
    Object.entries(DEEDS).map(([deed, does]) =>
      tool(`${deed}_${thing}`, `${does} ${thing}s of the shop`, { number: z.number() }, ({ number }) => {
        return `${deed} ${thing} ${number}: done`;
      }),
    ),
  ),
});

// #region client
await using client = await AgentClient.open({
  model: 'rehearsal',
  persistSession: false,
  tools: ['ToolSearch'],
  mcpServers: { shop },
  allowedTools: ['mcp__shop'],
  // By default this happens when definitions exceed a tenth of the context window or 20,000 tokens.
  extraArgs: { 'tool-search': 'on' },
});

const results: string[] = [];
for await (const message of client.turn(
  'Call ToolSearch with {"query": "bill somebody", "max_results": 2} then call create_invoice with {"number": 7}',
)) {
  if (message.type === 'result' && message.subtype === 'success') results.push(message.result.trim());
}
console.log(results.join('\n'));

const { mcpTools } = (await client.getContextUsage()) as { mcpTools: { isLoaded: boolean }[] };
const sent = mcpTools.filter(({ isLoaded }) => isLoaded).length;
console.log(`${sent} of ${mcpTools.length} definitions were sent`);
// #endregion

assert.match(results.join(), /mcp__shop__create_invoice/);
assert.match(results.join(), /create invoice 7: done/);
assert.equal(sent, 2);
