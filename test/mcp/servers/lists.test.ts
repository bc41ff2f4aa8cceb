import { expect, test } from 'vitest';
import { ServerFault } from '../../../src/mcp/connection/server-fault.ts';
import { keptLists, Lists } from '../../../src/mcp/servers/lists.ts';
import { FakeConnection, Fleet } from './fleet.ts';

const never = new AbortController().signal;
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

function lists() {
  const fleet = new Fleet();
  const connection = new FakeConnection('a', fleet);
  return { connection, lists: new Lists(connection, fleet.clock) };
}

test.each([
  ['tools', ['tools']],
  ['prompts', ['prompts']],
  ['resources', []],
  ['all', ['tools', 'prompts']],
] as const)('a change of %s concerns %j', (kind, which) => {
  expect(keptLists(kind)).toEqual(which);
});

test('an answer to an older question never replaces one to a newer', async () => {
  const { connection, lists: it } = lists();
  const late = Promise.withResolvers<unknown>();
  connection.listTools = () => late.promise;
  const older = it.read(['tools'], never);
  connection.listTools = async () => ({ tools: [tool('new')] });
  await it.read(['tools'], never);
  late.resolve({ tools: [tool('old')] });
  expect((await older).tools.items).toEqual([tool('new')]);
});

test('a part of a list does not replace the whole there was', async () => {
  const { connection, lists: it } = lists();
  connection.tools = [tool('a'), tool('b')];
  await it.read(['tools'], never);
  connection.listTools = async (cursor) => {
    if (cursor !== undefined) throw new ServerFault('a', -32603, 'not now');
    return { tools: [tool('a')], nextCursor: '2' };
  };
  const { tools } = await it.read(['tools'], never);
  expect(tools.items).toEqual([tool('a'), tool('b')]);
  expect(tools).toMatchObject({ failure: { message: 'not now' }, diagnostics: [{ outcome: 'list' }] });
});

test('prompts that cannot be had are told of, and those there were are kept', async () => {
  const fleet = new Fleet();
  fleet.capabilities = { tools: {}, prompts: {} };
  const connection = new FakeConnection('a', fleet);
  connection.prompts = [{ name: 'p' }];
  const it = new Lists(connection, fleet.clock);
  await it.read(['prompts'], never);
  connection.ask = () => Promise.reject(new Error('gone'));
  for (let n = 0; n < 3; n++) {
    const { prompts } = await it.read(['prompts'], never);
    expect(prompts.items).toMatchObject([{ name: 'p' }]);
    expect(prompts.diagnostics.map(({ fault }) => fault)).toEqual([
      'its list of prompts could not be had: gone',
    ]);
  }
});
