import { expect, test } from 'vitest';
import { repetitionOf } from '../../../src/agent/results/repeats.ts';

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
  ['hello', { result: 'hello', more: 1 }, true],
  ['hello', { answer: 'hello' }, true],
  ['hello', { answer: { text: 'hello' } }, false],
  ['', { result: [] }, false],
  ['{"__proto__":1,"a":2}', JSON.parse('{"a":2,"__proto__":1}'), true],
  ['{"a":[{"c":1,"b":2}]}', { a: [{ b: 2, c: 1 }] }, true],
  ['[1,2]', { result: [2, 1] }, false],
  ['undefined', { result: undefined }, false],
])('%j repeats %j: %s', (text, structure, expected) => {
  expect(repetitionOf(structure)(text)).toBe(expected);
});

test('what is nested too deeply to be compared is taken for different', () => {
  const text = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(repetitionOf(JSON.parse(text))(text)).toBe(false);
});

test('every item is gone through a few times, however many texts there are', () => {
  let looks = 0;
  const items = Array.from({ length: 500 }, (_, id) => ({
    get id() {
      looks++;
      return id;
    },
  }));
  const repeats = repetitionOf({ result: items });
  expect(items.every((_, id) => repeats(`{"id":${id}}`))).toBe(true);
  expect(items.some((_, id) => repeats(`{"other":${id}}`))).toBe(false);
  expect(looks).toBeLessThan(10 * items.length);
});

test('what is very long is compared in the order in which it is written only', () => {
  const rows = Array.from({ length: 80_000 }, (_, id) => ({ id, name: 'x' }));
  const turned = rows.map(({ id, name }) => ({ name, id }));
  const repeats = repetitionOf({ rows });
  expect(repeats(JSON.stringify({ rows }, null, 1))).toBe(true);
  expect(repeats(JSON.stringify({ rows: turned }))).toBe(false);
  expect(repetitionOf({ rows: rows.slice(0, 9) })(JSON.stringify({ rows: turned.slice(0, 9) }))).toBe(true);
});

test('of a very long list all texts are known, and the first of other items', () => {
  const items = Array.from({ length: 60_000 }, (_, id) => (id % 2 ? `${id}th` : { id }));
  const repeats = repetitionOf({ result: items });
  expect(['59999th', '{"id":40000}', '{"id":59998}'].map(repeats)).toEqual([true, true, false]);
});
