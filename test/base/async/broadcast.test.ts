import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Broadcast } from '../../../src/base/async/broadcast.ts';
import { collect } from '../../support/collect.ts';

test('every listener gets every event until it is removed', () => {
  const heard: string[] = [];
  const events = new Broadcast<string>();
  using _first = events.on((event) => heard.push(`first ${event}`));
  {
    using _second = events.on((event) => heard.push(`second ${event}`));
    events.emit('a');
  }
  events.emit('b');
  expect(heard).toEqual(['first a', 'second a', 'first b']);
});

test('a throwing listener does not affect others and causes a warning', async () => {
  const heard: string[] = [];
  const warned = once(process, 'warning');
  const events = new Broadcast<string>();
  events.on(() => {
    throw new Error('broken listener');
  });
  events.on((event) => heard.push(event));
  events.emit('a');
  expect(heard).toEqual(['a']);
  expect(await warned).toMatchObject([{ message: 'broken listener' }]);
});

test('a rejected asynchronous listener causes a warning only', async () => {
  const warned = once(process, 'warning');
  const events = new Broadcast<string>();
  events.on((async () => {
    throw new Error('broken later');
  }) as () => void);
  events.emit('a');
  expect(await warned).toMatchObject([{ message: 'broken later' }]);
});

test('rejects a listener that is not a function', () => {
  expect(() => new Broadcast<string>().on('state' as never)).toThrow('requires a listener function');
});

test('a slow reader loses minor events only and gets their count', async () => {
  const events = new Broadcast<string>({
    limit: 2,
    isMinor: (event) => event.startsWith('minor'),
    dropped: (count) => `${count} dropped`,
  });
  const iteration = events[Symbol.asyncIterator]();
  const first = iteration.next();
  for (const event of ['a', 'minor 1', 'minor 2', 'minor 3', 'minor 4', 'b']) events.emit(event);
  events.end();
  expect((await first).value).toBe('a');
  expect(await collect(iteration)).toEqual(['minor 1', 'minor 2', 'b', '2 dropped']);
});

test('a loop that starts after the end yields nothing', async () => {
  const events = new Broadcast<string>();
  events.end();
  expect(await collect(events)).toEqual([]);
});

test('a loop yields the events from its start to the end', async () => {
  const events = new Broadcast<number>();
  events.emit(0);
  const iteration = events[Symbol.asyncIterator]();
  const first = iteration.next();
  events.emit(1);
  events.emit(2);
  events.end();
  expect(await first).toEqual({ done: false, value: 1 });
  expect(await collect(iteration)).toEqual([2]);
});

test('leaving a loop frees its events', async () => {
  const events = new Broadcast<number>();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const event of events) {
      seen.push(event);
      break;
    }
  })();
  events.emit(1);
  events.emit(2);
  await reading;
  expect(seen).toEqual([1]);
});
