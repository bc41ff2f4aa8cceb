// npm start: a tool of this program, found and called by an agent in another process. Offline, no key, no model.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createSdkMcpServer, query, type ToolContext, tool } from 'toolplane';
import { z } from 'zod';

/** The application's own state: it lives in this process and never leaves it. */
class Warehouse {
  readonly #stock = new Map([['teapot', 7]]);
  readonly lookups: string[] = [];

  count(item: string): number {
    const count = this.#stock.get(item) ?? 0;
    this.lookups.push(`warehouse.count("${item}") → ${count}`);
    return count;
  }
}

const countStock = tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  ({ item }, { assigns }: ToolContext<{ warehouse: Warehouse }>) =>
    `${assigns.warehouse.count(item)} ${item}s`,
);

const warehouse = new Warehouse();
const run = query({
  prompt: 'How many teapots are there?',
  options: {
    pathToClaudeCodeExecutable: fileURLToPath(new URL('./stand-in-agent.mjs', import.meta.url)),
    env: { ...process.env, STAND_IN_ARGUMENTS: '{"item":"teapot"}' },
    mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [countStock] }) },
    assigns: { warehouse },
  },
});

let discovered: unknown;
let called: unknown;
let answer = '';
for await (const message of run) {
  if (message.type === 'system' && message.subtype === 'init') discovered = message.tools;
  if (message.type === 'assistant') {
    const call = message.message.content.find((block) => block.type === 'tool_use');
    if (call) called = call.input;
  }
  if (message.type === 'result' && message.subtype === 'success') answer = message.result;
}

console.log(`An agent was started as a process of its own and told of the server "shop" of this program.

  1. it asked what is there, and found   ${discovered}
  2. it called that with                 ${JSON.stringify(called)}
  3. the handler ran here, in this app   ${warehouse.lookups}
  4. the agent got the result and said   "${answer}"
`);
assert.deepEqual(discovered, ['mcp__shop__count_stock']);
assert.deepEqual(called, { item: 'teapot' });
assert.deepEqual(warehouse.lookups, ['warehouse.count("teapot") → 7']);
assert.equal(answer, 'The tool says: 7 teapots');
console.log('A tool of your own, discovered and called. Next: docs/quick-start.md');
