import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readArguments } from '../../../../src/cli/commands/call/read-arguments.ts';
import { jsonFile } from '../../support/json-file.ts';

const read = (words: readonly string[], stdin = '') => readArguments(words, Readable.from([stdin]));

test('words, files and stdin together', async () => {
  const file = jsonFile('{"b":2}');
  expect(await read(['-', 'a=1', `b=@${file}`, `c:=@${file}`], '{"z":0}')).toEqual({
    base: { z: 0 },
    given: [
      { key: 'a', text: '1' },
      { key: 'b', text: '{"b":2}' },
      { key: 'c', value: { b: 2 } },
    ],
    faults: [],
  });
});

test('without - stdin is not read', async () => {
  const stdin = new Readable({
    read() {
      throw new Error('stdin is read');
    },
  });
  expect(await readArguments(['a=1'], stdin)).toMatchObject({ base: {}, faults: [] });
});

test.each([
  ['a word without =', ['count'], '', 'argument "count" is not key=value, key:=json or a JSON object'],
  [
    'invalid JSON',
    ['{"a":1'],
    '',
    'the JSON argument is not valid JSON: line 1, column 7: missing closing }',
  ],
  ['a JSON list', ['-'], '[1]', 'stdin is not a JSON object'],
  ['empty stdin', ['-'], '', 'stdin is not valid JSON: the text is empty'],
])('%s is a fault', async (_, words, stdin, fault) => {
  expect((await read(words, stdin)).faults).toEqual([fault]);
});

test('a missing file is a fault that names it', async () => {
  expect((await read(['a=@none'])).faults).toEqual([expect.stringMatching(/^a: cannot read none: ENOENT/)]);
});
test.each([
  ['a=1', { key: 'a', text: '1' }],
  ['a=', { key: 'a', text: '' }],
  ['a=b=c', { key: 'a', text: 'b=c' }],
  ['a.b=1', { key: 'a.b', text: '1' }],
  ['a=-5', { key: 'a', text: '-5' }],
  ['a:=[1]', { key: 'a', value: [1] }],
  ['a::=1', { key: 'a:', value: 1 }],
  ['a=:=@', { key: 'a', text: ':=@' }],
  ['url=http://x/?a:=1', { key: 'url', text: 'http://x/?a:=1' }],
  ['__proto__=x', { key: '__proto__', text: 'x' }],
  ['a=one\ntwo', { key: 'a', text: 'one\ntwo' }],
])('%j is an argument', async (word, given) => {
  expect(await read([word])).toEqual({ base: {}, given: [given], faults: [] });
});

test('words are added to a JSON object that comes before or after them', async () => {
  const expected = { base: { a: 1 }, given: [{ key: 'b', text: '2' }], faults: [] };
  expect(await read(['{"a":1}', 'b=2'])).toEqual(expected);
  expect(await read(['b=2', '{"a":1}'])).toEqual(expected);
});

test.each([
  [['=a'], 'argument "=a" is not key=value, key:=json or a JSON object'],
  [[':=a'], 'argument ":=a" is not key=value, key:=json or a JSON object'],
  [['a:={'], 'a is not valid JSON: line 1, column 2: missing closing }'],
  [['-', '{}'], 'only one JSON object or - is allowed; pass further arguments as key=value'],
  [['{}', '-'], 'only one JSON object or - is allowed; pass further arguments as key=value'],
])('%j is refused', async (words, fault) => {
  expect((await read(words, '{}')).faults).toEqual([fault]);
});
