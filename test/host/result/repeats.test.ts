import { expect, test } from 'vitest';
import { repeats } from '../../../src/host/result/repeats.ts';

test.each<[string, unknown, boolean]>([
  ['{"a":1,"b":2}', { b: 2, a: 1 }, true],
  [' {\n  "a": 1 }', { a: 1 }, true],
  ['{"a":1}', { a: 2 }, false],
  ['{"a":1}', { a: 1, b: 2 }, false],
  ['a: 1', { a: 1 }, false],
  ['hello', { result: 'hello' }, true],
  ['"hello"', { result: 'hello' }, true],
  ['5', { result: 5 }, true],
  ['two', { result: ['one', 'two'] }, true],
  ['{"id":2}', { result: [{ id: 1 }, { id: 2 }] }, true],
  ['{"id":3}', { result: [{ id: 1 }, { id: 2 }] }, false],
  ['hello', { result: 'hello', more: 1 }, false],
  ['hello', { answer: 'hello' }, false],
  ['', { result: [] }, false],
])('%j repeats %j: %s', (text, structure, expected) => {
  expect(repeats(text, structure)).toBe(expected);
});

test('what is nested too deeply to be compared is taken for different', () => {
  const text = '['.repeat(20_000) + ']'.repeat(20_000);
  expect(repeats(text, JSON.parse(text))).toBe(false);
});
