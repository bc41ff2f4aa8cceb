import { expect, test } from 'vitest';
import type { Check } from '../../../src/base/option-check.ts';
import {
  abortController,
  anything,
  environment,
  flagMap,
  kindOf,
  names,
  skillNames,
  toolRules,
} from '../../../src/sdk/options/option-table.ts';

const ROWS: readonly (readonly [check: Check, what: string, good: unknown[], bad: unknown[]])[] = [
  [anything, 'anything', [null, 1, {}], []],
  [
    environment,
    'an object whose values are strings or undefined',
    [{}, { A: 'b', C: undefined }],
    [{ A: 1 }, { A: null }],
  ],
  [
    toolRules,
    'a list of tool rules: a tool name, optionally followed by a pattern in parentheses',
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
    'an object that maps flag names (letters, digits, dashes) to strings or null',
    [{}, { 'a-b1': 'v', c: null }],
    [{ '--a': null }, { 'a=b': 'c' }, { '': null }, { a: 1 }, { a: undefined }, { 'a b': null }],
  ],
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
