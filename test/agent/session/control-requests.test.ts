import { expect, test } from 'vitest';
import { scene } from '../../support/changing.ts';
import { raw } from '../../support/drive.ts';

test('mcp_call: arguments under the names a model is told reach the server under its own', async () => {
  const { list, host } = await scene();
  const properties = { 'user id': { type: 'string' }, q: { type: 'string' } };
  list({ name: 'echo', inputSchema: { type: 'object', properties } });
  const { ask, session } = raw([], host());
  await session.servers.settled();
  const [tool] = session.pool().tools;
  const told = Object.keys(tool?.inputSchema.properties ?? {});
  expect(told).not.toContain('user id');
  const args = Object.fromEntries(told.map((name) => [name, name === 'q' ? 'x' : 'me']));
  const { response } = await ask('mcp_call', { tool: 'mcp__s__echo', arguments: args });
  expect(response).toMatchObject({ content: [{ text: '{"user id":"me","q":"x"}' }] });
});
