// All kinds of servers in one query: in-process, a module in its own process, an external server.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { moduleServer, query, toolServer } from 'toolplane';
import { openAgent, text, together, toolUse } from './agent.ts';

const everything = fileURLToPath(
  new URL('../interop/node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

await using agent = await openAgent([
  together(
    toolUse('mcp__oven__reading', {}),
    toolUse('mcp__temperature__to_celsius', { fahrenheit: 212 }),
    toolUse('mcp__everything__echo', { message: 'done' }),
  ),
  text('The oven is at 100 °C.'),
]);

const uses: Record<string, unknown> = {};

// #region query
const oven = toolServer('oven').tool('reading', 'The oven’s thermometer, in Fahrenheit', {}, () => 212);

const conversation = query({
  prompt: 'Read the oven, convert the reading to Celsius, then echo "done". Use a tool for each.',
  options: {
    ...agent.options,
    mcpServers: {
      oven, // in this process
      temperature: moduleServer(new URL('./temperature-tools.ts', import.meta.url)), // a module in its own process
      everything: { type: 'stdio', command: process.execPath, args: [everything, 'stdio'] }, // an external server
    },
    allowedTools: ['mcp__oven', 'mcp__temperature', 'mcp__everything__echo'],
    onToolUse: ({ name, result }) => {
      uses[name] = textOf(result);
    },
  },
});

for await (const message of conversation) {
  if (message.type === 'system' && message.subtype === 'init')
    console.log(message.mcp_servers.map((server) => server.name).toSorted());
}
console.log(uses);
// #endregion

assert.deepEqual(uses, {
  mcp__oven__reading: '212',
  mcp__temperature__to_celsius: '100',
  mcp__everything__echo: 'Echo: done',
});

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (result as { text: string }[]).map((it) => it.text).join('');
}
