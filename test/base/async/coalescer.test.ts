import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Coalescer } from '../../../src/base/async/coalescer.ts';

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('a short burst is sent immediately', () => {
  const sent: number[] = [];
  const coalescer = new Coalescer<number>((item) => void sent.push(item));
  for (const item of numbers(1, 256)) coalescer.push('a', item);
  expect(sent).toEqual(numbers(1, 256));
});

test('of a long burst, the latest item of each key is sent in the next turn of the event loop', async () => {
  const sent: string[] = [];
  const coalescer = new Coalescer<string>((item) => void sent.push(item));
  for (const at of numbers(1, 5_000)) coalescer.push(at % 2 === 0 ? 'even' : 'odd', String(at));
  expect(sent).toHaveLength(256);
  await coalescer.room;
  expect(sent.slice(256)).toEqual(['4999', '5000']);
  coalescer.push('even', 'next');
  expect(sent.at(-1)).toBe('next');
});

test('flush sends kept items first', () => {
  const sent: (string | number)[] = [];
  const coalescer = new Coalescer<string | number>((item) => void sent.push(item));
  for (const at of numbers(1, 1_000)) coalescer.push('a', at);
  coalescer.flush();
  coalescer.send('answer');
  expect(sent.slice(256)).toEqual([1_000, 'answer']);
});

test('keeps only the latest item while the receiver has no room', async () => {
  const sent: number[] = [];
  const rooms: PromiseWithResolvers<void>[] = [];
  const coalescer = new Coalescer<number>((item) => {
    sent.push(item);
    const room = Promise.withResolvers<void>();
    rooms.push(room);
    return room.promise;
  });
  coalescer.push('a', 1);
  for (const at of numbers(2, 10)) {
    coalescer.push('a', at);
    await nextTurn();
  }
  expect(sent).toEqual([1]);
  rooms[0]?.resolve();
  await coalescer.room;
  expect(sent).toEqual([1, 10]);
  expect(coalescer.isFull).toBe(true);
  // A closed receiver counts as having room, and items sent to it are lost.
  rooms[1]?.reject(new Error('gone'));
  await coalescer.room;
  expect(coalescer.isFull).toBe(false);
});
