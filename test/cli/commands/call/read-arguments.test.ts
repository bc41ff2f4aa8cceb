import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { parseWords, readInput } from '../../../../src/cli/commands/call/read-arguments.ts';
import { jsonFile } from '../../support/json-file.ts';

describe('read input', () => {
  const read = (words: readonly string[], stdin = '') => readInput(words, Readable.from([stdin]));

  test('words, files and stdin together', async () => {
    const file = jsonFile('{"b":2}');
    expect(await read(['-', 'a=1', `b=@${file}`, `c:=@${file}`], '{"z":0}')).toEqual({
      base: { z: 0 },
      given: [
        { key: 'a', form: 'text', text: '1' },
        { key: 'b', form: 'text', text: '{"b":2}' },
        { key: 'c', form: 'json', text: '{"b":2}' },
      ],
      faults: [],
    });
  });

  test('without a - stdin is not touched', async () => {
    const stdin = new Readable({
      read() {
        throw new Error('somebody reads');
      },
    });
    expect(await readInput(['a=1'], stdin)).toMatchObject({ base: {}, faults: [] });
  });

  test.each([
    ['a word that is none', ['count'], '', '"count" is not key=value, key:=json or a JSON object'],
    ['JSON that is none', ['{"a":1'], '', 'the input is not valid JSON: line 1, column 7: missing closing }'],
    ['no object', ['-'], '[1]', 'stdin is not a JSON object'],
    ['nothing', ['-'], '', 'stdin is not valid JSON: it is empty'],
  ])('%s is a fault', async (_, words, stdin, fault) => {
    expect((await read(words, stdin)).faults).toEqual([fault]);
  });

  test('a file that is not there is a fault that names it', async () => {
    expect((await read(['a=@none'])).faults).toEqual([expect.stringMatching(/^a: cannot read none: ENOENT/)]);
  });
});

describe('read words', () => {
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
    expect(parseWords([given])).toEqual({ assignments: [assignment], faults: [] });
  });

  test('a whole input comes first or later, and words come on top of it', () => {
    expect(parseWords(['{"a":1}', 'b=2'])).toEqual({
      base: { source: 'word', text: '{"a":1}' },
      assignments: [word('b', '2')],
      faults: [],
    });
    expect(parseWords(['-'])).toEqual({ base: { source: 'stdin' }, assignments: [], faults: [] });
  });

  test.each([
    [['a'], ['"a" is not key=value, key:=json or a JSON object']],
    [['=a'], ['"=a" is not key=value, key:=json or a JSON object']],
    [[':=a'], ['":=a" is not key=value, key:=json or a JSON object']],
    [['-', '{}'], ['the JSON cannot follow another complete input']],
    [['{}', '-'], ['- cannot follow another complete input']],
  ])('%j is not understood', (words, faults) => {
    expect(parseWords(words).faults).toEqual(faults);
  });
});
