import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from '../../../src/base/async/queue.ts';

async function drain<T>(queue: Queue<T>): Promise<{ items: T[]; error?: unknown }> {
  const items: T[] = [];
  try {
    for await (const item of queue) items.push(item);
    return { items };
  } catch (error) {
    return { items, error };
  }
}

test('items are read in order for any interleaving of pushes and reads', async () => {
  const steps = fc.array(fc.oneof(fc.constant('read' as const), fc.integer()), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const queue = new Queue<number>();
      const reads: Promise<IteratorResult<number>>[] = [];
      for (const step of taken) {
        if (step === 'read') reads.push(queue.next());
        else queue.push(step);
      }
      queue.end();
      const read = await Promise.all(reads);
      const { items } = await drain(queue);
      const pushed = taken.filter((step) => step !== 'read');
      expect([...read.flatMap((it) => (it.done ? [] : [it.value])), ...items]).toEqual(pushed);
    }),
  );
});

test('the end follows all pushed items', async () => {
  const queue = new Queue<number>();
  queue.push(1);
  queue.push(2);
  queue.end();
  queue.push(3);
  expect(await drain(queue)).toEqual({ items: [1, 2] });
});

test('a failure follows all pushed items and is thrown once', async () => {
  const queue = new Queue<number>();
  const error = new Error('died');
  queue.push(1);
  queue.fail(error);
  queue.fail(new Error('again'));
  expect(await drain(queue)).toEqual({ items: [1], error });
  expect(await drain(queue)).toEqual({ items: [] });
});

test('concurrent readers are served in order and released at the end', async () => {
  const queue = new Queue<string>();
  const reads = [queue.next(), queue.next(), queue.next()];
  queue.push('a');
  queue.push('b');
  queue.end();
  expect(await Promise.all(reads)).toEqual([
    { done: false, value: 'a' },
    { done: false, value: 'b' },
    { done: true, value: undefined },
  ]);
});

test('a failure rejects one waiting reader and ends the others', async () => {
  const queue = new Queue<string>();
  const reads = [queue.next(), queue.next()];
  queue.fail(new Error('died'));
  expect(await Promise.allSettled(reads)).toMatchObject([
    { status: 'rejected', reason: { message: 'died' } },
    { status: 'fulfilled', value: { done: true } },
  ]);
});

test('leaving early ends the queue and drops items and failure', async () => {
  const queue = new Queue<number>();
  queue.push(1);
  queue.push(2);
  queue.fail(new Error('died'));
  for await (const _ of queue) break;
  queue.push(3);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});

test('a long run of pushes and reads keeps every item', async () => {
  const queue = new Queue<number>();
  const count = 5_000;
  for (let i = 0; i < count; i++) queue.push(i);
  queue.end();
  expect((await drain(queue)).items).toEqual(Array.from({ length: count }, (_, i) => i));
});

test('R110 a read item is released while others are unread', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const queue = new Queue<object>();
  for (let i = 0; i < 2; i++) queue.push({ i });
  const read = await (async () => new WeakRef((await queue.next()).value as object))();
  // A weak reference keeps its target until the end of the current job.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(read.deref()).toBeUndefined();
  queue.end();
  expect(await drain(queue)).toEqual({ items: [{ i: 1 }] });
});

const coalescing = (limit: number) =>
  new Queue<string>({
    limit,
    keyOf: (item) => (item.includes(':') ? item.slice(0, item.indexOf(':')) : undefined),
  });

test('above the limit the latest item of a key replaces the previous one', async () => {
  const queue = coalescing(3);
  for (const item of ['a:1', 'b:1', 'a:2', 'a:3', 'x', 'b:2', 'c:1', 'c:2', 'y']) queue.push(item);
  queue.end();
  expect((await drain(queue)).items).toEqual(['a:1', 'b:2', 'a:3', 'x', 'c:2', 'y']);
});

test('no item without a key is lost, and the last item of each key arrives, for any interleaving', async () => {
  const item = fc.oneof(
    fc.constant('read'),
    fc.tuple(fc.constantFrom('a:', 'b:', ''), fc.nat(9)).map(([key, n]) => `${key}${n}`),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 80 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, limit) => {
        const queue = coalescing(limit);
        const read: string[] = [];
        for (const step of steps) {
          if (step !== 'read') queue.push(step);
          else if (queue.unread > 0) read.push((await queue.next()).value);
        }
        queue.end();
        read.push(...(await drain(queue)).items);
        const pushed = steps.filter((step) => step !== 'read');
        const plain = (all: readonly string[]) => all.filter((it) => !it.includes(':'));
        expect(plain(read)).toEqual(plain(pushed));
        for (const key of ['a:', 'b:']) {
          const last = (all: readonly string[]) => all.findLast((it) => it.startsWith(key));
          expect(last(read)).toBe(last(pushed));
        }
      },
    ),
  );
});

test('below() resolves when enough was read or reading has ended', async () => {
  const queue = new Queue<number>();
  for (let n = 0; n < 10; n++) queue.push(n);
  let isBelow = false;
  const below = queue.below(5).then(() => {
    isBelow = true;
  });
  for (let n = 0; n < 5; n++) await queue.next();
  expect({ unread: queue.unread, isBelow }).toEqual({ unread: 5, isBelow: false });
  await queue.next();
  await below;
  const again = queue.below(1);
  await queue.return();
  await again;
});
