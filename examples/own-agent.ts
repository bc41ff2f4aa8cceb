// Toolplane's agent in this process: an in-process tool and built-in tools, in a temporary directory.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSdkMcpServer, query, tool } from 'toolplane';
import { z } from 'zod';

const directory = await mkdtemp(join(tmpdir(), 'toolplane-example-'));
await writeFile(join(directory, 'order.txt'), '2 teapots\n');
const uses: string[] = [];

// #region server
const shop = createSdkMcpServer({
  name: 'shop',
  tools: [
    tool('price', 'The price of a number of items', { item: z.string(), count: z.number() }, (it) => {
      return it.item === 'teapot' ? `${it.count * 30} crowns` : new Error(`There is no ${it.item}`);
    }),
  ],
  prompts: [
    {
      name: 'quote',
      description: 'Make an offer',
      arguments: [{ name: 'item', required: true }],
      get: ({ item }) => `Call price with {"item": "${item}", "count": 1}`,
    },
  ],
});
// #endregion

/** Runs one prompt and returns the text of its result. */
async function answer(prompt: string): Promise<string> {
  // #region query
  const conversation = query({
    prompt,
    options: {
      model: 'rehearsal',
      cwd: directory, // where Read, Write, Edit, Glob, Grep and Bash work
      tools: ['Read', 'Bash'], // only these built-in tools
      mcpServers: { shop },
      allowedTools: ['mcp__shop'], // Read is read-only and needs no rule inside cwd
      persistSession: false,
      onToolUse: ({ name, isError }) => uses.push(`${name}${isError ? ' failed' : ''}`),
    },
  });
  // #endregion
  let text = '';
  for await (const message of conversation) {
    if (message.type === 'result' && message.subtype === 'success') text = message.result.trim();
  }
  return text;
}

try {
  for (const prompt of [
    'Call Read with {"file_path": "order.txt"} then call price with {"item": "teapot", "count": 2}',
    'Call Bash with {"command": "expr 6 + 7"}',
    '/mcp__shop__quote teapot',
  ]) {
    console.log(`> ${prompt}`);
    console.log(await answer(prompt));
  }
} finally {
  await rm(directory, { recursive: true });
}
console.log(uses);

assert.deepEqual(uses, ['Read', 'mcp__shop__price', 'Bash failed', 'mcp__shop__price']);
