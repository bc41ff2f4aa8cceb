import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readInput } from '../../../src/cli/call/read-input.ts';
import { jsonFile } from '../json-file.ts';

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
  ['a word that is none', ['count'], '', '"count" is no key=value, no key:=json and no JSON object'],
  ['JSON that is none', ['{"a":1'], '', 'the input is no JSON: it ends too early'],
  ['no object', ['-'], '[1]', 'what came through stdin is no JSON object'],
  ['nothing', ['-'], '', 'what came through stdin is no JSON: it ends too early'],
])('%s is a fault', async (_, words, stdin, fault) => {
  expect((await read(words, stdin)).faults).toEqual([fault]);
});

test('a file that is not there is a fault that names it', async () => {
  expect((await read(['a=@none'])).faults).toEqual([
    expect.stringMatching(/^a: none cannot be read: ENOENT/),
  ]);
});
