// How to test your own tools and programs: no agent, no model, no network. Run it with `node --test`, or by itself.
// #region imports
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Options, query, type ToolContext, toolServer } from 'toolplane';
import { scriptAgent } from 'toolplane/testing';
import { z } from 'zod';

// #endregion

// #region program
type State = { prices: Map<string, number> };

const shop = toolServer('shop').tool(
  'price',
  'The price of an item',
  { item: z.string() },
  ({ item }, { assigns }: ToolContext<State>) => {
    const price = assigns.prices.get(item);
    if (price === undefined) throw new Error(`There is no ${item}`);
    return price;
  },
);

/** The program under test; a test passes its scripted agent in `more`. */
async function askPrice(question: string, more: Options = {}): Promise<string | undefined> {
  const assigns = { prices: new Map([['tea', 3]]) };
  const options = { mcpServers: { shop }, allowedTools: ['mcp__shop'], assigns, ...more };
  for await (const message of query({ prompt: question, options })) {
    if (message.type === 'result' && message.subtype === 'success') return message.result;
  }
  return undefined;
}
// #endregion

// #region tool
test('a tool, called as an agent would call it', async () => {
  const assigns = { prices: new Map([['tea', 3]]) };
  assert.deepEqual(await shop.call('price', { item: 'tea' }, { assigns }), {
    content: [{ type: 'text', text: '3' }],
  });
  assert.deepEqual(await shop.call('price', { item: 'gold' }, { assigns }), {
    content: [{ type: 'text', text: 'There is no gold' }],
    isError: true,
  });
});

test('arguments are validated before the handler runs', async () => {
  const { isError, content } = await shop.call('price', { item: 7 }, { assigns: { prices: new Map() } });
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /Invalid arguments for tool price/);
});
// #endregion

// #region scripted
test('a program with a scripted agent', async () => {
  const { link, played } = scriptAgent(async (agent) => {
    await agent.start();
    assert.equal(await agent.prompt(), 'What is tea?');
    const { content } = await agent.callTool('shop', 'price', { item: 'tea' });
    assert.deepEqual(content, [{ type: 'text', text: '3' }]);
    agent.assistant('Three.');
    agent.result('Tea costs 3.');
  });
  assert.equal(await askPrice('What is tea?', { link }), 'Tea costs 3.');
  await played;
});
// #endregion

// #region callbacks
test('the answer of the program to a permission request', async () => {
  const { link, played } = scriptAgent(async (agent) => {
    await agent.start();
    await agent.prompt();
    const request = { tool_name: 'Bash', input: { command: 'rm -r /' }, tool_use_id: 'toolu_1' };
    const answer = await agent.ask({ subtype: 'can_use_tool', ...request });
    assert.deepEqual(answer, { behavior: 'deny', message: 'no shell here', toolUseID: 'toolu_1' });
    agent.result('Then not.');
  });
  const canUseTool = async () => ({ behavior: 'deny' as const, message: 'no shell here' });
  for await (const _ of query({ prompt: 'Clean up', options: { link, canUseTool } }));
  await played;
});
// #endregion

// #region progress
test('progress notifications of concurrent calls', async () => {
  const bakery = toolServer('bakery').tool('bake', 'Bakes', { loaves: z.number() }, ({ loaves }, ctx) => {
    ctx.progress(loaves, { total: loaves });
    return `${loaves} loaves`;
  });
  const { link, played } = scriptAgent(async (agent) => {
    await agent.start();
    await agent.prompt();
    const baked = await Promise.all([1, 2].map((loaves) => agent.callTool('bakery', 'bake', { loaves })));
    assert.equal(baked.length, 2);
    assert.deepEqual(agent.notifications[0], {
      server: 'bakery',
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1, total: 1 },
    });
    bakery.remove('bake');
    await agent.notification('notifications/tools/list_changed');
    agent.result('Baked.');
  });
  for await (const _ of query({ prompt: 'Bake', options: { link, mcpServers: { bakery } } }));
  await played;
});
// #endregion

// #region launch
test('the arguments of the agent process', async () => {
  const { link, played, script } = scriptAgent(async (agent) => {
    const initialize = await agent.start();
    assert.deepEqual(initialize.sdkMcpServers, ['shop']);
    await agent.prompt();
    agent.result('ok');
  });
  await askPrice('What is tea?', { link });
  await played;
  assert.ok(script.launch?.argv.includes('--allowedTools=mcp__shop'));
});
// #endregion
