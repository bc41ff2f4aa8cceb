import { expect, test } from 'vitest';
import { listPrompts } from '../../../src/host/discover/list-prompts.ts';

const never = new AbortController().signal;

/** A server that answers its pages in order, the last one for ever. */
function pages(...answers: unknown[]) {
  const asked: unknown[] = [];
  const connection = {
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
  expect(await listPrompts({ ...connection, capabilities: {} }, never)).toEqual([]);
  expect(asked).toEqual([]);
});

test('all pages; prompts that are none are left out', async () => {
  const { connection, asked } = pages(
    {
      prompts: [{ name: 'a', description: 'A', arguments: [{ name: 'x', required: true }, null] }, 7],
      nextCursor: '2',
    },
    { prompts: [{ name: 'b', description: 7, arguments: {} }] },
  );
  expect(await listPrompts(connection, never)).toEqual([
    { name: 'a', description: 'A', arguments: [{ name: 'x', required: true }] },
    { name: 'b', description: '', arguments: [] },
  ]);
  expect(asked).toEqual([{}, { cursor: '2' }]);
});

test.each([
  [
    'a failure keeps what came before',
    [{ prompts: [{ name: 'a' }], nextCursor: '2' }, new Error('no')],
    1,
    2,
  ],
  ['the same cursor again ends it', [{ prompts: [{ name: 'a' }], nextCursor: '2' }], 2, 2],
  ['garbage is nothing', [7], 0, 1],
])('%s', async (_, answers, found, times) => {
  const { connection, asked } = pages(...answers);
  expect(await listPrompts(connection, never)).toHaveLength(found);
  expect(asked).toHaveLength(times);
});

test('a server that never comes to an end is left after a while', async () => {
  let n = 0;
  const connection = {
    capabilities: { prompts: {} },
    ask: async () => ({ prompts: [], nextCursor: String(n++) }),
  };
  expect(await listPrompts(connection, never)).toEqual([]);
  expect(n).toBe(20);
});
