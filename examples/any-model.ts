// The same program with two models: an OpenAI-compatible endpoint, and a scripted file.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Options, query, toolServer } from 'toolplane';
import { z } from 'zod';
import { type CompletionRequest, openLoopbackModel } from './loopback-model.ts';

const shop = toolServer('shop').tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  () => 7,
);

/** Asks the model that the options select. */
async function ask(options: Options): Promise<void> {
  const asked = query({
    prompt: 'How many teapots are there?',
    options: {
      ...options,
      tools: [],
      mcpServers: { shop },
      allowedTools: ['mcp__shop'],
      persistSession: false,
    },
  });
  for await (const message of asked) {
    if (message.type !== 'result') continue;
    assert.equal(message.subtype, 'success');
    if (message.subtype === 'success') console.log(message.result);
  }
}

const requests: CompletionRequest[] = [];
await using endpoint = await openLoopbackModel((request) => {
  requests.push(request);
  const isAnswered = request.messages.some(({ role }) => role === 'tool');
  return isAnswered
    ? { text: 'There are 7.' }
    : { call: 'mcp__shop__count_stock', input: { item: 'teapot' } };
});

// #region openai
await ask({
  model: 'openai:little-model',
  env: { ...process.env, OPENAI_BASE_URL: endpoint.baseUrl }, // and OPENAI_API_KEY, if required
});
// #endregion
for (const { model, tools = [], messages } of requests)
  console.log(`  ${model} got ${messages.length} messages and ${tools.map((tool) => tool.function.name)}`);

const directory = await mkdtemp(join(tmpdir(), 'toolplane-example-'));
const file = join(directory, 'replies.json');
// #region scripted
const replies = [{ tool: 'mcp__shop__count_stock', input: { item: 'teapot' } }, 'Seven, as written.'];
await writeFile(file, JSON.stringify(replies));
await ask({ model: `scripted:${file}` });
// #endregion
await rm(directory, { recursive: true });

assert.deepEqual(
  requests.map(({ model, messages }) => [model, messages.at(-1)?.role, messages.at(-1)?.content]),
  [
    ['little-model', 'user', 'How many teapots are there?'],
    ['little-model', 'tool', '7'],
  ],
);
