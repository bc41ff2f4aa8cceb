import { expect, test } from 'vitest';
import { elapsed, inputSummary, resultSummary } from '../../../src/cli/chat/tool-text.ts';

test.each([
  [{ a: 2, b: 'two', c: [1], d: null }, 'a: 2, b: two, c: [1], d: null'],
  [{}, ''],
  [undefined, ''],
  ['text', '"text"'],
])('the input %j is %j', (input, summary) => {
  expect(inputSummary(input)).toBe(summary);
});

test.each([
  ['one', 'one'],
  ['\n\none\ntwo\n\nthree\n', 'one (+2 lines)'],
  [
    [
      { type: 'text' as const, text: 'one' },
      { type: 'image' as const, source: {} },
    ],
    'one (+1 lines)',
  ],
  ['', '(nothing)'],
  [undefined, '(nothing)'],
])('the result %j is %j', (content, summary) => {
  expect(resultSummary(content)).toBe(summary);
});

test.each([
  [0, '0.0 s'],
  [9_940, '9.9 s'],
  [59_999, '59 s'],
  [60_000, '1 min 00 s'],
  [3_725_000, '62 min 05 s'],
])('%i ms are %s', (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});
