import { expect, test } from 'vitest';
import { guarded } from '../../src/sdk/guarded.ts';

test('a listener gets what it is told', () => {
  const told: unknown[] = [];
  const listener = guarded(
    'onToolUse',
    (value) => void told.push(value),
    () => told.push('warned'),
  );
  listener('one');
  listener('two');
  expect(told).toEqual(['one', 'two']);
});

test.each<[string, () => void]>([
  [
    'throws',
    () => {
      throw new Error('mine');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('mine');
    },
  ],
  [
    'throws a text',
    () => {
      throw 'mine';
    },
  ],
])('one that %s is warned about, and whoever tells it goes on', async (_, listener) => {
  const warned = Promise.withResolvers<unknown>();
  guarded('stderr', listener, warned.resolve)('text');
  expect(await warned.promise).toEqual({
    code: 'TOOLPLANE_LISTENER_THREW',
    message: 'options.stderr threw: mine',
  });
});
