import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from '../../src/base/queue.ts';

async function drain<T>(queue: Queue<T>): Promise<{ items: T[]; error?: unknown }> {
  const items: T[] = [];
  try {
    for await (const item of queue) items.push(item);
    return { items };
  } catch (error) {
    return { items, error };
  }
}

test('whatever is pushed comes out in order, however pushes and reads alternate', async () => {
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

test('the end comes after everything pushed before it', async () => {
  const queue = new Queue<number>();
  queue.push(1);
  queue.push(2);
  queue.end();
  queue.push(3);
  expect(await drain(queue)).toEqual({ items: [1, 2] });
});

test('a failure comes after everything pushed before it, and only once', async () => {
  const queue = new Queue<number>();
  const error = new Error('died');
  queue.push(1);
  queue.fail(error);
  queue.fail(new Error('again'));
  expect(await drain(queue)).toEqual({ items: [1], error });
  expect(await drain(queue)).toEqual({ items: [] });
});

test('P65 waiting readers are served in turn, and let go at the end', async () => {
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

test('leaving early ends the queue and forgets what it held, a failure too', async () => {
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

test('R110 an item that was read is not held any more, though others wait behind it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const queue = new Queue<object>();
  for (let i = 0; i < 2; i++) queue.push({ i });
  const read = await (async () => new WeakRef((await queue.next()).value as object))();
  // A weak reference holds its target until the job that made it is over.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(read.deref()).toBeUndefined();
  queue.end();
  expect(await drain(queue)).toEqual({ items: [{ i: 1 }] });
});
