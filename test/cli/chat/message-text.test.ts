import { describe, expect, test } from 'vitest';
import {
  callSummary,
  elapsed,
  inputSummary,
  parseProgress,
  progressText,
  resultSummary,
} from '../../../src/cli/chat/message-text.ts';

describe('tool text', () => {
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
    ['', '(no output)'],
    [undefined, '(no output)'],
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
});

describe('progress', () => {
  test.each([
    [{ progress: 1, total: 3 }, '███░░░░░░░ 33 %'],
    [{ progress: 5, total: 3 }, '██████████ 100 %'],
    [{ progress: -1, total: 3 }, '░░░░░░░░░░ 0 %'],
    [{ progress: 12 }, '12'],
    [{ progress: 12, total: 0, message: 'pages read' }, '12 pages read'],
    [{ message: 'warming up' }, 'warming up'],
    [{ progress: '1', message: '\u001b[2J\nnow' }, '␛[2J now'],
    [{ progress: 1, total: 2, message: 'x'.repeat(50) }, `█████░░░░░ 50 % ${'x'.repeat(39)}…`],
  ])('%j is shown as %j', (told, shown) => {
    const progress = parseProgress(told);
    expect(progress && progressText(progress)).toBe(shown);
  });

  test.each([[undefined], ['half'], [{}], [{ progress: Number.NaN, message: ' ' }]])(
    '%j is not progress',
    (told) => {
      expect(parseProgress(told)).toBeUndefined();
    },
  );
});

test.each<[string, unknown, string]>([
  ['Bash', { command: 'git log', description: 'x' }, 'git log'],
  ['Write', { file_path: '/a', content: 'long' }, '/a'],
  ['mcp__x__Bash', { command: 'ls' }, 'command: ls'],
  ['AskUserQuestion', { questions: [{ question: 'Which?' }] }, ''],
  ['Bash', 'odd', '"odd"'],
  ['Read', { file_path: '/a', limit: 3 }, '/a'],
  ['Agent', { description: 'Find it', prompt: 'long' }, 'Find it'],
])('the summary of a call of %s with %j is %j', (name, input, summary) => {
  expect(callSummary(name, input)).toBe(summary);
});
