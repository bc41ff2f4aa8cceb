import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTimer } from '../../src/base/timer.ts';

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
