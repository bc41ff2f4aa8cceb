import { expect, test } from 'vitest';
import { progressOf, progressText } from '../../../src/cli/chat/progress.ts';

test.each([
  [{ progress: 1, total: 3 }, '33 %'],
  [{ progress: 5, total: 3 }, '100 %'],
  [{ progress: -1, total: 3 }, '0 %'],
  [{ progress: 12 }, '12'],
  [{ progress: 12, total: 0, message: 'pages read' }, '12 pages read'],
  [{ message: 'warming up' }, 'warming up'],
  [{ progress: '1', message: '\u001b[2J\nnow' }, '␛[2J now'],
  [{ progress: 1, total: 2, message: 'x'.repeat(50) }, `50 % ${'x'.repeat(39)}…`],
])('%j is shown as %j', (told, shown) => {
  const progress = progressOf(told);
  expect(progress && progressText(progress)).toBe(shown);
});

test.each([[undefined], ['half'], [{}], [{ progress: Number.NaN, message: ' ' }]])('%j is none', (told) => {
  expect(progressOf(told)).toBeUndefined();
});
