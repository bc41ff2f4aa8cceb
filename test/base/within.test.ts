import { expect, test } from 'vitest';
import { within } from '../../src/base/within.ts';

const forever = new Promise<void>(() => {});
const never = new AbortController().signal;

test('ends with the work, the time or the signal, whichever comes first', async () => {
  await within(60_000, Promise.resolve(), never);
  await within(1, forever, never);
  const abort = new AbortController();
  const waiting = within(60_000, forever, abort.signal);
  abort.abort();
  await waiting;
  await within(60_000, forever, abort.signal);
});

test('work that fails first fails the wait', async () => {
  await expect(within(60_000, Promise.reject(new Error('no')), never)).rejects.toThrow('no');
});
