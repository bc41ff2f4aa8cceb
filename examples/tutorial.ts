// The tutorial: from a first tool to many servers with permissions. Offline; `rehearsal` is a stand-in, not an LLM.
import assert from 'node:assert/strict';
// #region first-tool
import { query, toolServer } from 'toolplane';
import { z } from 'zod';
import { serve, startDeploy } from './servers/start.ts';

const stock = new Map([['teapot', 7]]);

const shop = toolServer('shop').tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  ({ item }) => `${stock.get(item) ?? 0} in stock`,
  { annotations: { readOnlyHint: true } },
);
// #endregion

console.log('# first tool');
// #region first-query
const conversation = query({
  prompt: 'Call count_stock with {"item": "teapot"}',
  options: { model: 'rehearsal', mcpServers: { shop }, allowedTools: ['mcp__shop'], persistSession: false },
});
for await (const message of conversation) {
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result);
}
// #endregion

console.log('# a tool that changes something');
// #region failing-tool
shop.tool('reserve', 'Reserve an item for a customer', { item: z.string() }, ({ item }) => {
  const left = stock.get(item) ?? 0;
  if (left === 0) throw new Error(`${item} is sold out`);
  stock.set(item, left - 1);
  return `reserved; ${left - 1} left`;
});
console.log(await shop.call('reserve', { item: 'teapot' }));
console.log(await shop.call('reserve', { item: 'kettle' }));
// #endregion

// #region servers
using deployServer = await startDeploy();
const docs = serve('docs.ts');
const deploy = { type: 'http' as const, url: deployServer.url };
// #endregion

console.log('# a server in another process');

// #region client
import { AgentClient } from 'toolplane';

const asked: string[] = [];
const client = await AgentClient.open({
  model: 'rehearsal',
  persistSession: false,
  tools: ['connect_mcp'],
  mcpServers: {
    shop,
    docs: { ...docs, start: 'on-demand' }, // stdio: { command, args }
    deploy: { ...deploy, start: 'on-demand' }, // HTTP: { type: 'http', url }
  },
  settings: {
    permissions: {
      allow: ['connect_mcp', 'mcp__docs', 'mcp__deploy__status', 'mcp__shop__count_stock'],
      deny: ['mcp__shop__reserve'],
    },
  },
  canUseTool: async (name, input) => {
    asked.push(`${name} ${JSON.stringify(input)}`);
    return { behavior: 'allow' };
  },
});

async function ask(prompt: string): Promise<void> {
  for await (const message of client.turn(prompt)) {
    if (message.type === 'result' && message.subtype === 'success') console.log(message.result.trim());
  }
}
// #endregion

// #region docs
await ask('connect to the docs server and search');
// #endregion

console.log('# a server on the network');
// #region deploy
await ask('connect to the deploy server and trigger a deployment');
console.log('asked:', asked);
// #endregion

console.log('# all tools');
// #region both
await ask('connect both: what tools are available now?');
// #endregion

console.log('# permissions');
// #region permissions
await ask('Call mcp__shop__reserve with {"item": "teapot"}');
await client.setPermissionMode('dontAsk');
await ask('Call mcp__deploy__trigger with {"service": "web"}');
console.log('asked:', asked.length);
// #endregion
await client.close();

console.log('# without an agent');

// #region host
import { createHost } from 'toolplane/host';

await using host = createHost({ mcpServers: { shop, docs, deploy } });
await host.ready();
for (const [name, { state }] of Object.entries(host.status())) console.log(name, state);
const { content } = await host.callTool('deploy', 'status', {});
console.log(content);
// #endregion

assert.deepEqual(asked, ['mcp__deploy__trigger {"service":"demo"}']);
assert.equal(stock.get('teapot'), 6);
