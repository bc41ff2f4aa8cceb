// Add and remove tools while an agent is connected; the server also offers a resource and a prompt.
import assert from 'node:assert/strict';
import { createSdkMcpServer, query, tool } from 'toolplane';
import { scriptAgent } from 'toolplane/testing';

const ping = tool('ping', 'Answers', {}, () => 'pong');
const late = tool('late', 'Came later', {}, () => 'better than never');

// #region server
const server = createSdkMcpServer({
  name: 'demo',
  version: '2.0.0',
  instructions: 'Ping before you do anything else.',
  tools: [ping],
  resources: [
    { uri: 'demo://readme', name: 'readme', mimeType: 'text/plain', read: () => 'This is a demonstration.' },
  ],
  prompts: [
    { name: 'greet', arguments: [{ name: 'who', required: true }], get: ({ who }) => `Greet ${who}.` },
  ],
});
// #endregion

/** An agent that lists the tools, waits for the change, and lists them again. */
const { link, played } = scriptAgent(async (agent) => {
  await agent.start();
  await agent.prompt();
  const list = async () => {
    const answer = await agent.mcp('demo', { jsonrpc: '2.0', id: 'list', method: 'tools/list' });
    assert.ok('result' in answer);
    return (answer.result.tools as { name: string }[]).map(({ name }) => name);
  };
  console.log('before', await list());
  // #region change
  server.add(late);
  server.remove('ping');
  // #endregion
  const { message } = await agent.answer('mcp_message');
  console.log('notified', (message as { method: string }).method);
  const after = await list();
  console.log('after ', after);
  assert.deepEqual(after, ['late']);
  agent.result('done');
});

for await (const _ of query({ prompt: 'Look.', options: { link, mcpServers: { demo: server } } }));
await played;
