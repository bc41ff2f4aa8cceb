import { expect, test } from 'vitest';
import { readWords } from '../../../src/cli/call/read-words.ts';

const word = (key: string, text: string, form = 'text', source = 'word') => ({ key, form, source, text });

test.each([
  ['a=1', word('a', '1')],
  ['a=', word('a', '')],
  ['a=b=c', word('a', 'b=c')],
  ['a.b=1', word('a.b', '1')],
  ['a=-5', word('a', '-5')],
  ['a:=[1]', word('a', '[1]', 'json')],
  ['a=@b.txt', word('a', 'b.txt', 'text', 'file')],
  ['a:=@b.json', word('a', 'b.json', 'json', 'file')],
  ['a=:=@', word('a', ':=@')],
  ['url=http://x/?a:=1', word('url', 'http://x/?a:=1')],
  ['__proto__=x', word('__proto__', 'x')],
  ['a=one\ntwo', word('a', 'one\ntwo')],
])('%j is an assignment', (given, assignment) => {
  expect(readWords([given])).toEqual({ assignments: [assignment], faults: [] });
});

test('a whole input comes first or later, and words come on top of it', () => {
  expect(readWords(['{"a":1}', 'b=2'])).toEqual({
    base: { source: 'word', text: '{"a":1}' },
    assignments: [word('b', '2')],
    faults: [],
  });
  expect(readWords(['-'])).toEqual({ base: { source: 'stdin' }, assignments: [], faults: [] });
});

test.each([
  [['a'], ['"a" is no key=value, no key:=json and no JSON object']],
  [['=a'], ['"=a" is no key=value, no key:=json and no JSON object']],
  [[':=a'], ['":=a" is no key=value, no key:=json and no JSON object']],
  [['-', '{}'], ['the JSON comes after another whole input']],
  [['{}', '-'], ['- comes after another whole input']],
])('%j is not understood', (words, faults) => {
  expect(readWords(words).faults).toEqual(faults);
});
