import { expect, test } from 'vitest';
import { patienceFor } from '../../../chaos/patience.ts';

test.each([
  [0, 1],
  [150, 1],
  [225, 1.5],
  [60_000, 2],
])('a program loaded after %i ms stretches limits by %d', (ms, factor) => {
  expect(patienceFor(ms)).toBe(factor);
});
