// An on-demand server: the agent starts it when the model asks for it.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { AgentClient } from 'toolplane';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Any stdio or http server will do; this one is `servers/docs.ts`, run by `toolplane serve`. */
const docs = {
  command: process.execPath,
  args: [...process.execArgv, here('../src/cli/main.ts'), 'serve', here('./servers/docs.ts')],
};

// #region client
await using client = await AgentClient.open({
  model: 'rehearsal',
  persistSession: false,
  tools: ['connect_mcp'],
  mcpServers: { docs: { ...docs, start: 'on-demand' } },
  allowedTools: ['connect_mcp(docs)', 'mcp__docs'],
});

const statuses: string[] = [];
const recordStatus = async () => {
  for (const { name, status, tools = [] } of await client.mcpServerStatus())
    statuses.push(`${name}: ${status}, ${tools.length} tools`);
};

await recordStatus();
for await (const message of client.turn('Connect to the docs server and search for deploying')) {
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result.trim());
}
await recordStatus();
console.log(statuses);
// #endregion

assert.deepEqual(statuses, ['docs: pending, 0 tools', 'docs: connected, 2 tools']);
