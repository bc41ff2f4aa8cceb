import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterLoss, isStormy, NO_PAST, RETRY, retryWait } from '../../../src/mcp/servers/retry.ts';

const failed = (failures: number) => ({ ...NO_PAST, failures });

test.each([
  [1, 500],
  [2, 1_000],
  [3, 2_000],
  [6, 16_000],
  [7, 30_000],
  [2_000, 30_000],
])('after %i failures the wait is at most %i ms, and at least a quarter of that', (failures, longest) => {
  expect(retryWait(failed(failures), 0, RETRY)).toBe(longest / 4);
  expect(retryWait(failed(failures), 0.5, RETRY)).toBe(longest / 2);
  expect(retryWait(failed(failures), 0.9999, RETRY)).toBeLessThanOrEqual(longest);
});

test('waits are never negative, endless or beyond the ceiling of a storm', () => {
  const past = fc.record({ hasCome: fc.boolean(), failures: fc.nat(5_000), shortLives: fc.nat(5_000) });
  fc.assert(
    fc.property(past, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (it, luck) => {
      const wait = retryWait(it, luck, RETRY);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(isStormy(it) ? 300_000 : 30_000);
    }),
  );
});

test.each([
  ['a life of seconds counts as one more failure', 9_999, { hasCome: true, failures: 4, shortLives: 3 }],
  ['ten seconds are healthy, if short', 10_000, { hasCome: true, failures: 1, shortLives: 3 }],
  ['a minute is a life', 60_000, { hasCome: true, failures: 1, shortLives: 0 }],
])('%s', (_, livedMs, expected) => {
  expect(afterLoss({ hasCome: true, failures: 3, shortLives: 2 }, livedMs)).toEqual(expected);
});
