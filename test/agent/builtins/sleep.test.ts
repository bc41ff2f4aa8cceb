import { expect, test } from 'vitest';
import { SLEEP } from '../../../src/agent/builtins/sleep.ts';
import { WakeQueue } from '../../../src/agent/builtins/wake-queue.ts';
import { call, directoryWith, done, failed, worldIn } from './built-in-world.ts';

const EVENT = { source: 'build', text: 'it is green' };

test('ends when its time is over', async () => {
  expect(await call(SLEEP, { seconds: 0.01, reason: 'to see' }, worldIn(directoryWith()))).toEqual(
    done('Slept 0.01 seconds; no events'),
  );
});

test('an event ends every Sleep call at once, and each call reports it', async () => {
  const world = worldIn(directoryWith());
  const sleepers = [call(SLEEP, { seconds: 3600 }, world), call(SLEEP, { seconds: 3600 }, world)];
  const pushed = performance.now();
  world.wake.push(EVENT);
  expect(await Promise.all(sleepers)).toEqual([
    done('Woken by build: it is green'),
    done('Woken by build: it is green'),
  ]);
  expect(performance.now() - pushed).toBeLessThan(1000);
  expect(world.wake.take()).toEqual([]);
});

test('all events that arrived before the call are reported without sleeping', async () => {
  const world = worldIn(directoryWith());
  world.wake.push(EVENT);
  world.wake.push({ source: 'chat', text: 'hello' });
  expect(await call(SLEEP, { seconds: 3600 }, world)).toEqual(
    done('Woken by build: it is green\nWoken by chat: hello'),
  );
});

test('an abort ends a Sleep call, and the next event is kept for a later call', async () => {
  const world = worldIn(directoryWith());
  const abort = new AbortController();
  const sleeping = SLEEP.run({ seconds: 3600 }, world, abort.signal);
  abort.abort();
  world.wake.push(EVENT);
  expect(await sleeping).toEqual(failed('Sleep was interrupted'));
  expect(world.wake.take()).toEqual([EVENT]);
});

test('an event that arrives just before Sleep calls are interrupted is kept, once', async () => {
  const world = worldIn(directoryWith());
  const abort = new AbortController();
  const sleepers = [0, 1].map(() => SLEEP.run({ seconds: 3600 }, world, abort.signal));
  world.wake.push(EVENT);
  abort.abort();
  expect(await Promise.all(sleepers)).toEqual([
    failed('Sleep was interrupted'),
    failed('Sleep was interrupted'),
  ]);
  expect(world.wake.take()).toEqual([EVENT]);
});

test('a queue that is not read keeps the newest events and counts the dropped ones', () => {
  const queue = new WakeQueue();
  for (let at = 0; at < 1002; at++) queue.push({ source: 's', text: String(at) });
  const events = queue.take();
  expect(events).toHaveLength(1001);
  expect(events.slice(0, 2)).toEqual([
    { source: 'toolplane', text: '2 earlier events dropped because the queue was full' },
    { source: 's', text: '2' },
  ]);
  expect(queue.take()).toEqual([]);
});
