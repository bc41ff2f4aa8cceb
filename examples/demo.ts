// npm start: one agent, three servers. Offline, no key: the rehearsal model follows a few fixed phrases.
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

/** A tool of this program: it works on what the program has in memory. */
const stock = new Map([['teapot', 7]]);
const shop = toolServer('shop').tool(
  'count_stock',
  'How many of an item are in stock',
  { item: z.string() },
  ({ item }) => `${stock.get(item) ?? 0} ${item}s`,
  { annotations: { readOnlyHint: true } },
);

/** A server that speaks HTTP, in a process of its own; it ends with its stdin. */
const web = spawn(process.execPath, [...process.execArgv, here('./servers/deploy-http.ts')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [url] = (await once(createInterface(web.stdout), 'line')) as [string];

/** A server that speaks on its stdin and stdout, started by the agent when it is asked for. */
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
    await setImmediate(); // what the model said before is shown first
    return (await isAllowed(`${name} ${JSON.stringify(input)}`))
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: 'The person said no.' };
  },
});

const PROMPTS = [
  'Connect to the docs MCP server and search for deploying',
  'Connect to the deploy server and trigger a deployment',
  'Call count_stock with {"item":"teapot"} then list tools',
];
const called: string[] = [];
for (const prompt of PROMPTS) {
  console.log(`\n> ${prompt}`);
  for await (const message of client.turn(prompt)) show(message);
}

console.log('\nWhat is connected, and what each server says of its tools:');
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
  'connect_mcp',
  'mcp__docs__search',
  'connect_mcp',
  'mcp__deploy__trigger',
  'mcp__shop__count_stock',
]);
console.log(`
Three servers (one in this program, one on stdio, one on http), one pool of tools; only the destructive one was asked about.
Next:
  npm run chat            type the same prompts yourself
  docs/quick-start.md     your own tool, called by an agent, in five minutes`);

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

/** A person at a terminal decides; without one the demo says yes for them. */
async function isAllowed(what: string): Promise<boolean> {
  const question = `  ? ${what} is marked (destructive). Allow it? [Y/n] `;
  if (!process.stdin.isTTY) {
    console.log(`${question}yes (nobody is there to ask)`);
    return true;
  }
  const prompt = createPrompt(process.stdin, process.stdout);
  const answer = await prompt.question(question);
  prompt.close();
  return !/^n/i.test(answer.trim());
}
