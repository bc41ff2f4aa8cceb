import { expect, test } from 'vitest';
import { ServerFault } from '../../../src/mcp/connection/server-fault.ts';
import { listPrompts } from '../../../src/mcp/discovery/list-prompts.ts';

/** A server that answers its pages in order, the last one for ever. */
function pages(...answers: unknown[]) {
  const asked: unknown[] = [];
  const connection = {
    name: 'p',
    capabilities: { prompts: {} },
    ask: async (_: string, params: Record<string, unknown>) => {
      asked.push(params);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { connection, asked };
}

test('a server without prompts is not asked', async () => {
  const { connection, asked } = pages({});
  expect(await listPrompts({ ...connection, capabilities: {} })).toEqual({ items: [], diagnostics: [] });
  expect(asked).toEqual([]);
});

test('all pages; what is wrong is told and costs no other', async () => {
  const { connection, asked } = pages(
    {
      prompts: [
        { name: 'a', description: 'A', arguments: [{ name: 'x', required: true, title: 'X' }, null] },
        7,
      ],
      nextCursor: '2',
    },
    { prompts: [{ name: 'b', title: 'B', description: 7, arguments: {}, _meta: { k: 1 }, extra: true }] },
  );
  const { items, diagnostics } = await listPrompts(connection);
  expect(items).toEqual([
    { name: 'a', description: 'A', arguments: [{ name: 'x', required: true, title: 'X' }] },
    { name: 'b', title: 'B', description: '', arguments: [], _meta: { k: 1 }, extra: true },
  ]);
  const told = { server: 'p', list: 'prompts' };
  expect(diagnostics).toEqual([
    { ...told, entry: 'a', outcome: 'kept', fault: '"arguments[1]" has no name and was left out' },
    { ...told, entry: '#1', outcome: 'set-aside', fault: 'it is no object' },
    { ...told, entry: 'b', outcome: 'kept', fault: '"description" is not a string and was left out' },
    { ...told, entry: 'b', outcome: 'kept', fault: '"arguments" is not a list and was left out' },
  ]);
  expect(asked).toEqual([{}, { cursor: '2' }]);
});

test.each([
  [
    'a page that is refused keeps what came before',
    [{ prompts: [{ name: 'a' }], nextCursor: '2' }, new ServerFault('p', -32603, 'no')],
    1,
    2,
    'page 2 of its list of prompts could not be had: no',
  ],
  [
    'the same cursor again ends it',
    [{ prompts: [{ name: 'a' }], nextCursor: '2' }],
    1,
    2,
    'its list of prompts runs in circles: the cursor "2" came twice',
  ],
  ['garbage is nothing', [7], 0, 1, 'page 1 of its list of prompts has no "prompts"'],
])('%s', async (_, answers, found, times, fault) => {
  const { connection, asked } = pages(...answers);
  const { items, diagnostics } = await listPrompts(connection);
  expect(items).toHaveLength(found);
  expect(asked).toHaveLength(times);
  expect(diagnostics).toContainEqual({ server: 'p', list: 'prompts', outcome: 'list', fault });
});

test('a server that does not answer is told of by a rejection', async () => {
  const { connection } = pages(new Error('gone'));
  await expect(listPrompts(connection)).rejects.toThrow('gone');
});

test('a name that nobody would write is set aside', async () => {
  const { connection } = pages({ prompts: [{ name: 'x'.repeat(1_025) }, { name: 'a' }] });
  const { items, diagnostics } = await listPrompts(connection);
  expect(items.map(({ name }) => name)).toEqual(['a']);
  expect(diagnostics).toMatchObject([
    { outcome: 'set-aside', fault: '"name" is longer than 1024 characters' },
  ]);
});
