import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTimer, within } from '../../../src/base/async/timers.ts';

describe('timer', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test('a limit is kept', () => {
    const onElapsed = vi.fn();
    startTimer(1_000, onElapsed);
    vi.advanceTimersByTime(999);
    expect(onElapsed).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onElapsed).toHaveBeenCalledOnce();
  });

  test.each([Infinity, 2 ** 31, Number.MAX_SAFE_INTEGER])('a limit of %d ms does not fire at once', (ms) => {
    const onElapsed = vi.fn();
    startTimer(ms, onElapsed);
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect(onElapsed).not.toHaveBeenCalled();
  });
});

describe('within', () => {
  const forever = new Promise<void>(() => {});
  const never = new AbortController().signal;

  test('settles with the work, the time limit or the signal, whichever comes first', async () => {
    await within(60_000, Promise.resolve(), never);
    await within(1, forever, never);
    const abort = new AbortController();
    const waiting = within(60_000, forever, abort.signal);
    abort.abort();
    await waiting;
    await within(60_000, forever, abort.signal);
  });

  test('rejects if the work rejects first', async () => {
    await expect(within(60_000, Promise.reject(new Error('no')), never)).rejects.toThrow('no');
  });
});
