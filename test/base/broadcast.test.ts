import { expect, test } from 'vitest';
import { Broadcast } from '../../src/base/broadcast.ts';
import { collect } from '../world/collect.ts';

test('everybody hears every event, until they stop listening', () => {
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

test('a listener that throws harms no other, and what it threw is told', () => {
  const faults: unknown[] = [];
  const heard: string[] = [];
  const events = new Broadcast<string>((fault) => faults.push(fault));
  events.on(() => {
    throw 'broken';
  });
  events.on((event) => heard.push(event));
  events.emit('a');
  expect({ heard, faults }).toEqual({ heard: ['a'], faults: ['broken'] });
});

test('an iteration sees what comes after it began, up to the end', async () => {
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

test('an iteration that is left holds nothing any more', async () => {
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
