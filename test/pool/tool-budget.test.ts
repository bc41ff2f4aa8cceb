import { expect, test } from 'vitest';
import { readToolSearch, toolBudget } from '../../src/pool/tool-budget.ts';

test.each([
  ['on', 0],
  ['true', 0],
  [' TRUE ', 0],
  ['off', Infinity],
  ['false', Infinity],
  ['auto', 20_000],
  ['auto:15', 30_000],
  ['auto:0', 0],
  ['12000', 12_000],
])('%s', (text, budget) => {
  expect(toolBudget(readToolSearch(text), 200_000)).toBe(budget);
});

test.each(['', 'yes', 'auto:', 'auto:101', '-1', '1.5', 'auto:x', '99999999999'])(
  '%j says nothing',
  (text) => {
    expect(readToolSearch(text)).toBeUndefined();
  },
);

test('without a word, a tenth of the window', () => {
  expect(toolBudget(undefined, 64_000)).toBe(6_400);
});
