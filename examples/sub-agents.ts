// Sub-agents: one with fewer tools, one with its own server that ends with it.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { query, toolServer } from 'toolplane';
import { z } from 'zod';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Any stdio server will do; this one is `servers/docs.ts`, run by `toolplane serve`. */
const docs = {
  command: process.execPath,
  args: [...process.execArgv, here('../src/cli/main.ts'), 'serve', here('./servers/docs.ts')],
};
const shop = toolServer('shop')
  .tool('count_stock', 'How many of an item are in stock', { item: z.string() }, () => 7)
  .tool('order', 'Order more of an item', { item: z.string() }, ({ item }) => `${item} ordered`);

/** The prompt for the main agent, in phrases that the rehearsal model follows. */
const delegate = (subagent_type: string, prompt: string) =>
  `Call Agent with ${JSON.stringify({ description: 'a small task', prompt, subagent_type, run_in_background: false })}`;

const log: string[] = [];

async function ask(prompt: string, extraArgs: Record<string, null> = {}): Promise<void> {
  // #region query
  const conversation = query({
    prompt,
    options: {
      model: 'rehearsal',
      persistSession: false,
      extraArgs,
      mcpServers: { shop },
      agents: {
        counter: {
          description: 'Counts what is in stock',
          prompt: 'You count. You change nothing.',
          tools: ['mcp__shop__count_stock'], // only this tool
        },
        librarian: {
          description: 'Looks things up',
          prompt: 'You search the documentation.',
          mcpServers: [{ docs }], // its own server, not those of the session
        },
      },
      allowedTools: ['Agent', 'mcp__shop', 'mcp__docs'],
      forwardSubagentText: true, // the texts of sub-agents, besides their calls
    },
  });
  for await (const message of conversation) {
    if (message.type !== 'assistant') continue;
    const agent = message.parent_tool_use_id === null ? 'main agent' : 'sub-agent';
    for (const block of message.message.content) {
      if (block.type === 'tool_use') log.push(`${agent} calls ${block.name}`);
      if (block.type === 'text' && agent === 'sub-agent') log.push(`${agent} says ${block.text.trim()}`);
    }
  }
  // #endregion
}

await ask(delegate('counter', 'Call count_stock with {"item": "teapot"}'));
await ask(delegate('counter', 'Call order with {"item": "teapot"}'));
await ask(delegate('librarian', 'Search for deploying'));
// #region lead-only
await ask(delegate('general-purpose', 'Call count_stock with {"item": "teapot"}'), { 'lead-only': null });
// #endregion
console.log(log.join('\n'));

assert.deepEqual(
  log.filter((line) => line.includes('calls')),
  [
    'main agent calls Agent',
    'sub-agent calls mcp__shop__count_stock',
    'main agent calls Agent',
    'main agent calls Agent',
    'sub-agent calls mcp__docs__search',
    'main agent calls Agent',
  ],
);
