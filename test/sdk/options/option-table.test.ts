import { expect, test } from 'vitest';
import {
  abortController,
  anything,
  type Check,
  callback,
  countFrom,
  either,
  environment,
  flag,
  flagMap,
  kindOf,
  listOf,
  names,
  numberFrom,
  oneOf,
  record,
  skillNames,
  text,
  textMap,
  texts,
  toolRules,
} from '../../../src/sdk/options/option-table.ts';

const ROWS: readonly (readonly [check: Check, what: string, good: unknown[], bad: unknown[]])[] = [
  [text, 'a string', ['', 'x'], [1, null, ['x']]],
  [flag, 'true or false', [true, false], ['true', 0]],
  [callback, 'a function', [() => {}], [{}, 'f']],
  [record, 'an object', [{}, { a: 1 }], [null, [], 'x']],
  [texts, 'a list of strings', [[], ['a', '']], ['a', [1], null]],
  [anything, 'anything', [null, 1, {}], []],
  [textMap, 'an object whose values are strings', [{}, { a: 'b' }], [{ a: 1 }, { a: undefined }, []]],
  [
    environment,
    'an object whose values are strings or undefined',
    [{}, { A: 'b', C: undefined }],
    [{ A: 1 }, { A: null }],
  ],
  [
    toolRules,
    'a list of tool rules, each a name or a name with one balanced pair of parentheses at its end',
    [[], ['Read', 'mcp__s__*', 'Bash(a, b)', 'Bash(f(x), g(y))', 'Bash()']],
    [
      ['Read,Write'],
      ['Bash(a),Write'],
      ['Foo(a),mcp__s__x,Foo(b)'],
      ['Bash(a'],
      ['Bash)a('],
      ['Bash(a))'],
      ['Bash(a)b'],
      'Read',
      [1],
    ],
  ],
  [names, 'a list of strings without commas', [[], ['Read']], [['Read,Bash'], 'Read', [1]]],
  [
    skillNames,
    'a list of skill names without commas and parentheses',
    [[], ['pdf', 'plugin:skill']],
    [['a),mcp__s__x,Foo(b'], ['a,b'], [1]],
  ],
  [abortController, 'an AbortController', [new AbortController()], [new AbortController().signal, {}, null]],
  [
    flagMap,
    'an object from flag names (letters, digits, dashes) to strings or null',
    [{}, { 'a-b1': 'v', c: null }],
    [{ '--a': null }, { 'a=b': 'c' }, { '': null }, { a: 1 }, { a: undefined }, { 'a b': null }],
  ],
  [numberFrom(0), 'a number, 0 or more', [0, 0.5], [-1, Number.NaN, Number.POSITIVE_INFINITY, '1']],
  [countFrom(1), 'a whole number, 1 or more', [1, 2], [0, 1.5, '1', Number.NaN]],
  [oneOf('a', 'b'), 'one of "a", "b"', ['a', 'b'], ['c', ['a'], undefined]],
  [listOf(['a', 'b']), 'a list, each one of "a", "b"', [[], ['b', 'a']], ['a', ['c']]],
  [either(text, texts), 'a string, or a list of strings', ['a', ['a']], [1, [1]]],
  [
    kindOf('a', 'b'),
    'an object with type "a" or "b"',
    [{ type: 'a' }, { type: 'b', more: 1 }],
    [{}, { type: 'c' }, 'a', null],
  ],
];

test.each(ROWS)('$what', (check, what, good, bad) => {
  const holds = (value: unknown) => check.holds(value);
  expect({ what: check.what, good: good.map(holds), bad: bad.map(holds) }).toEqual({
    what,
    good: good.map(() => true),
    bad: bad.map(() => false),
  });
});
