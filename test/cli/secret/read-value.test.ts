import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readValue } from '../../../src/cli/secret/read-value.ts';

const piped = (...chunks: (string | Buffer)[]) =>
  readValue('a', Readable.from(chunks.map((it) => Buffer.from(it))) as NodeJS.ReadStream, new PassThrough());

test.each([
  [['value\n'], 'value'],
  [['value\r\n'], 'value'],
  [['value\n\n'], 'value\n'],
  [[' va', 'lue '], ' value '],
  [['\ufeffvalue'], '\ufeffvalue'],
  [[], ''],
])('of %j the last newline is cut off', async (chunks, value) => {
  expect(await piped(...chunks)).toBe(value);
});

test('a character that comes in two pieces is whole', async () => {
  const bytes = Buffer.from('é');
  expect(await piped(bytes.subarray(0, 1), bytes.subarray(1))).toBe('é');
});

test('what never ends is not read to its end', async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(10_000, 'x');
  }
  const value = await readValue('a', Readable.from(endless()) as NodeJS.ReadStream, new PassThrough());
  expect(value?.length).toBeGreaterThan(64 * 1024);
});
