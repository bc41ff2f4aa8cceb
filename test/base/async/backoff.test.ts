import { expect, test } from 'vitest';
import { backoffMs, jitter } from '../../../src/base/async/timers.ts';

test.each([
  { failures: 0, ms: 100 },
  { failures: 1, ms: 100 },
  { failures: 2, ms: 200 },
  { failures: 4, ms: 800 },
  { failures: 5, ms: 1000 },
  { failures: 5000, ms: 1000 },
])('the delay after failure $failures is $ms ms', ({ failures, ms }) => {
  expect(backoffMs({ firstMs: 100, maxMs: 1000 }, failures)).toBe(ms);
});

test('jitter shortens a delay, at most to the given part of it', () => {
  expect([0, 0.5, 1].map((random) => jitter(100, random))).toEqual([50, 75, 100]);
  expect(jitter(100, 0, 1 / 4)).toBe(25);
});
