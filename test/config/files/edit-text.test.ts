import { expect, test } from 'vitest';
import { type Edit, editText } from '../../../src/config/files/edit-text.ts';

const ENTRY = { command: 'npx', args: ['x'] };

const set = (path: Edit['path'], value: unknown): Edit => ({ path, value });
const remove = (...path: Edit['path']): Edit => ({ path, value: undefined });

test.each<[string, string, Edit, string]>([
  ['into nothing', '', set(['a'], 1), '{\n  "a": 1\n}\n'],
  ['into comments only', '// mine', set(['a'], 1), '// mine\n{\n  "a": 1\n}\n'],
  [
    'into an empty object',
    '{}',
    set(['a'], ENTRY),
    '{\n  "a": {\n    "command": "npx",\n    "args": [\n      "x"\n    ]\n  }\n}',
  ],
  ['into an empty object with a comment', '{ // mine\n}\n', set(['a'], 1), '{ // mine\n  "a": 1\n}\n'],
  [
    'on a way that is not there',
    '{}\n',
    set(['a', 'b', 0], 1),
    '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n',
  ],
  [
    'after the last, before its comment',
    '{\n  "a": 1 // one\n}',
    set(['b'], 2),
    '{\n  "a": 1, // one\n  "b": 2\n}',
  ],
  [
    'after the last with a comma',
    '{\n  "a": 1, // one\n}',
    set(['b'], 2),
    '{\n  "a": 1, // one\n  "b": 2,\n}',
  ],
  [
    'after a comma on the next line',
    '{\n  "a": 1\n  , // c\n}',
    set(['b'], 2),
    '{\n  "a": 1\n  , // c\n  "b": 2,\n}',
  ],
  [
    'after a comment with a comma in it',
    '{\n  "a": 1 /* , */\n}',
    set(['b'], 2),
    '{\n  "a": 1, /* , */\n  "b": 2\n}',
  ],
  [
    'with tabs',
    '{\n\t"a": {\n\t\t"b": 1\n\t}\n}',
    set(['a', 'c'], { d: 1 }),
    '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": 1\n\t\t}\n\t}\n}',
  ],
  [
    'with four blanks',
    '{\n    "a": 1\n}',
    set(['b'], [1]),
    '{\n    "a": 1,\n    "b": [\n        1\n    ]\n}',
  ],
  [
    'with CRLF',
    '{\r\n  "a": 1\r\n}\r\n',
    set(['b'], [1]),
    '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}\r\n',
  ],
  ['with a byte order mark', '\uFEFF{"a":1}', set(['b'], 2), '\uFEFF{"a":1,"b":2}'],
  ['into one dense line', '{"a":{}}', set(['a', 'b'], ENTRY), '{"a":{"b":{"command":"npx","args":["x"]}}}'],
  ['into one roomy line', '{ "a": 1 }', set(['b'], { c: [1, 2] }), '{ "a": 1, "b": { "c": [1, 2] } }'],
  ['into a list within a line', '{\n  "a": ["x"]\n}', set(['a', 1], 'y'), '{\n  "a": ["x", "y"]\n}'],
  [
    'into a list over lines',
    '{\n  "a": [\n    "x"\n  ]\n}',
    set(['a', 1], 'y'),
    '{\n  "a": [\n    "x",\n    "y"\n  ]\n}',
  ],
  ['into a list, far beyond its end', '{"a":[1]}', set(['a', 9], 2), '{"a":[1,2]}'],
  ['a name that needs quoting', '{}', set(['"\n__proto__'], 1), '{\n  "\\"\\n__proto__": 1\n}'],
])('adds a value %s', (_, before, edit, after) => {
  expect(editText(before, [edit])).toBe(after);
});

test.each<[string, string, Edit, string]>([
  ['of its own kind', '{ "a": /* x */ 1 /* y */ }', set(['a'], 2), '{ "a": /* x */ 2 /* y */ }'],
  [
    'member by member',
    '{\n  "s": {\n    // why\n    "a": 1,\n    "b": 2, // gone\n    "c": 3\n  }\n}',
    set(['s'], { a: 9, c: 3, d: 4 }),
    '{\n  "s": {\n    // why\n    "a": 9,\n    // gone\n    "c": 3,\n    "d": 4\n  }\n}',
  ],
  ['that is a list in a line', '{\n  "a": ["x", "y"]\n}', set(['a'], ['z']), '{\n  "a": ["z"]\n}'],
  ['by an object', '{\n  "a": 1\n}', set(['a'], { b: 1 }), '{\n  "a": {\n    "b": 1\n  }\n}'],
  ['by the same', '{"a": {"y": 1, /**/ "x": 2}}', set(['a'], { x: 2, y: 1 }), '{"a": {"y": 1, /**/ "x": 2}}'],
  ['of the whole', '{ // c\n  "a": 1\n}', set([], { b: 2 }), '{ // c\n  "b": 2\n}'],
])('replaces a value %s', (_, before, edit, after) => {
  expect(editText(before, [edit])).toBe(after);
});

test.each<[string, string, Edit, string]>([
  ['the only one', '{\n  "a": 1\n}\n', remove('a'), '{\n}\n'],
  ['the first', '{\n  "a": 1,\n  "b": 2\n}', remove('a'), '{\n  "b": 2\n}'],
  ['the last', '{\n  "a": 1, // one\n  "b": 2\n}', remove('b'), '{\n  "a": 1 // one\n}'],
  ['the last with a comma', '{\n  "a": 1,\n  "b": 2,\n}', remove('b'), '{\n  "a": 1,\n}'],
  ['one in the middle', '{ "a": 1, "b": 2, "c": 3 }', remove('b'), '{ "a": 1, "c": 3 }'],
  ['the last of a line', '{ "a": 1, "b": 2 }', remove('b'), '{ "a": 1 }'],
  ['of a dense line', '{"a":1,"b":2}', remove('a'), '{"b":2}'],
  [
    'between comments',
    '{\n  // one\n  "a": 1, // two\n  /* three */ "b": 2 // four\n}',
    remove('a'),
    '{\n  // one\n  // two\n  /* three */ "b": 2 // four\n}',
  ],
  ['before a comment and its comma', '{ "a": 1 /* x */, "b": 2 }', remove('a'), '{ /* x */"b": 2 }'],
  ['of a list', '{"a": ["x", "y", "z"]}', remove('a', 1), '{"a": ["x", "z"]}'],
  ['with CRLF', '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n', remove('b'), '{\r\n  "a": 1\r\n}\r\n'],
  ['that is not there', '{"a": 1}', remove('b', 'c'), '{"a": 1}'],
  ['of an empty text', '', remove('a'), ''],
])('removes an item: %s', (_, before, edit, after) => {
  expect(editText(before, [edit])).toBe(after);
});

test.each<[string, string, Edit, string]>([
  ['broken', '{"a": 1,, }', set(['b'], 1), 'missing key in double quotes'],
  [
    'written twice on the way',
    '{"a": {}, "a": {}}',
    set(['a', 'b'], 1),
    '"a" appears more than once in the same object; remove the duplicates',
  ],
  ['a text on the way', '{"a": "x"}', set(['a', 'b'], 1), '"a" is not an object'],
  ['a list on the way', '{"a": []}', set(['a', 'b'], 1), '"a" is not an object'],
  ['an object where a list is meant', '{"a": 1}', set(['a', 0], 1), '"a" is not a list'],
  ['a list as a whole', '[]', set(['a'], 1), 'the document is not an object'],
  ['no object in the end', '{"a": 1}', set([], 1), 'the file must contain one JSON object'],
])('rejects %s', (_, before, edit, message) => {
  expect(() => editText(before, [edit])).toThrow(message);
});

test('applies edits in order', () => {
  const edits = [set(['a', 'b'], 1), set(['a', 'c'], 2), remove('a', 'b')];
  expect(editText('{}', edits)).toBe('{\n  "a": {\n    "c": 2\n  }\n}');
});

test('escapes control characters in the error', () => {
  const name = 'a\u001b[2J\u009b';
  const text = JSON.stringify({ [name]: 'x' });
  expect(() => editText(text, [set([name, 'b'], 1)])).toThrow('["a\\u001b[2J\\u009b"] is not an object');
});

test('removal does not slow down with blanks elsewhere', () => {
  const blanks = ' '.repeat(100_000);
  const start = performance.now();
  expect(editText(`{"n":"${blanks}x","a":1,"b":2}`, [remove('a')])).toBe(`{"n":"${blanks}x","b":2}`);
  // A generous limit: the edit would take seconds if a search started at each blank.
  expect(performance.now() - start).toBeLessThan(1_000);
});

test('removes the blanks before a removed item', () => {
  expect(editText('{"a":1, \t "b":2}', [remove('b')])).toBe('{"a":1}');
  expect(editText('{"a":1,\n \t "b":2\n}', [remove('b')])).toBe('{"a":1\n}');
});
