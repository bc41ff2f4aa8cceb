// Many MCP servers without an agent: connect, call, lose a connection, reconnect, explain.
import assert from 'node:assert/strict';
// #region host
import { toolServer } from 'toolplane';
import { createHost, HostError } from 'toolplane/host';
import { z } from 'zod';
import { serve, startDeploy } from './servers/start.ts';

const shop = toolServer('shop').tool('price', 'What an item costs', { item: z.string() }, () => '30 crowns');
using deploy = await startDeploy();

await using host = createHost({
  mcpServers: {
    docs: { ...serve('docs.ts'), required: true }, // { command: 'node', args: […] }
    fragile: serve('fragile.ts'),
    deploy: { url: deploy.url }, // no type: tries Streamable HTTP, then SSE
    shop, // in this process
    broken: { command: 'no-such-command' },
  },
});

await host.ready({ deadline: 20_000 }); // a broken server does not delay the others

for (const { server, name } of await host.listTools()) console.log(`${server}: ${name}`);
const { content } = await host.callTool('docs', 'search', { query: 'deploying' });
console.log(content);
// #endregion

// #region lost
try {
  await host.callTool('fragile', 'crash');
} catch (error) {
  assert(error instanceof HostError);
  console.log(error.message);
}
console.log((await host.callTool('fragile', 'hello')).content); // it was restarted
// #endregion

// #region explain
for (const [name, { state, era, cause }] of Object.entries(host.status())) {
  const why = state === 'connected' ? `${era} era` : cause?.message;
  console.log(`${name}: ${state}, ${why}`);
}
// #endregion

assert.equal(host.status().broken?.state, 'failed');
assert.equal(host.status().fragile?.state, 'connected');
