// npm start: one agent, three servers, offline and without a key. `rehearsal` is an offline stand-in, not an LLM.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createInterface as createPrompt } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AgentClient, type SDKMessage, toolServer } from 'toolplane';
import { z } from 'zod';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A tool in this program: its handler reads the program's own memory. */
const stock = new Map([['teapot', 7]]);
const shop = toolServer('shop').tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  ({ item }) => `${stock.get(item) ?? 0} ${item}s`,
  { annotations: { readOnlyHint: true } },
);

/** An HTTP server in a separate process; it exits when its stdin closes. */
const web = spawn(process.execPath, [...process.execArgv, here('./servers/deploy-http.ts')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [url] = (await once(createInterface(web.stdout), 'line')) as [string];

/** A stdio server that the agent starts on demand. */
const docs = {
  command: process.execPath,
  args: [...process.execArgv, here('../src/cli/main.ts'), 'serve', here('./servers/docs.ts')],
  start: 'on-demand' as const,
};

const asked: string[] = [];
const client = await AgentClient.open({
  model: 'rehearsal',
  tools: ['connect_mcp'],
  mcpServers: { shop, docs, deploy: { type: 'http', url, start: 'on-demand' } },
  settings: { permissions: { allow: ['connect_mcp', 'mcp__docs'] } },
  persistSession: false,
  canUseTool: async (name, input) => {
    asked.push(name);
    await setImmediate(); // print the model's pending output first
    return (await isAllowed(`${name} ${JSON.stringify(input)}`))
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: 'The user denied this call.' };
  },
});

const PROMPTS = [
  'Call count_stock with {"item":"teapot"}',
  'connect to the docs server and search',
  'connect to the deploy server and trigger a deployment',
  'connect both: what tools are available now?',
];
const called: string[] = [];
for (const prompt of PROMPTS) {
  console.log(`\n> ${prompt}`);
  for await (const message of client.turn(prompt)) show(message);
}

console.log('\nConnected servers, their tools and annotations:');
for (const { name, status, tools = [] } of await client.mcpServerStatus()) {
  const marks = (it: { readOnly?: boolean; destructive?: boolean } = {}) =>
    [it.readOnly && '(readOnly)', it.destructive && '(destructive)'].filter(Boolean).join(' ');
  const listed = tools.map((tool) => `${tool.name} ${marks(tool.annotations)}`.trimEnd()).join(', ');
  console.log(`  ${name.padEnd(7)} ${status}: ${listed}`);
}
await client.close();
web.stdin.end();

assert.deepEqual(asked, ['mcp__deploy__trigger']);
assert.deepEqual(called, [
  'mcp__shop__count_stock',
  'connect_mcp',
  'mcp__docs__search',
  'connect_mcp',
  'mcp__deploy__trigger',
]);
console.log(`
Three servers (in-process, stdio, HTTP) in one tool pool; only the destructive tool required approval.
Next:
  npm run chat            type prompts about docs and deploy yourself
  docs/tutorial.md        build this step by step`);

function show(message: SDKMessage): void {
  if (message.type !== 'assistant' && message.type !== 'user') return;
  const { content } = message.message;
  for (const block of typeof content === 'string' ? [] : content) {
    if (block.type === 'text') console.log(indent(block.text));
    if (block.type === 'tool_use') {
      called.push(block.name);
      console.log(`  * ${block.name} ${JSON.stringify(block.input)}`);
    }
    if (block.type === 'tool_result') console.log(indent(`  ${textOf(block.content)}`));
  }
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((block: { text?: string }) => block.text ?? '').join('\n');
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '  ');
}

/** Asks at a terminal; without a terminal the demo answers yes. */
async function isAllowed(what: string): Promise<boolean> {
  const question = `  ? ${what} is marked destructive. Allow it? [Y/n] `;
  if (!process.stdin.isTTY) {
    console.log(`${question}yes (no terminal)`);
    return true;
  }
  const prompt = createPrompt(process.stdin, process.stdout);
  const answer = await prompt.question(question);
  prompt.close();
  return !/^n/i.test(answer.trim());
}
