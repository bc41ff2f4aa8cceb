import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readValue } from '../../../src/cli/commands/secret.ts';

describe('read value', () => {
  const piped = (...chunks: (string | Buffer)[]) =>
    readValue(
      'a',
      Readable.from(chunks.map((it) => Buffer.from(it))) as NodeJS.ReadStream,
      new PassThrough(),
    );

  test.each([
    [['value\n'], 'value'],
    [['value\r\n'], 'value'],
    [['value\n\n'], 'value\n'],
    [[' va', 'lue '], ' value '],
    [['\ufeffvalue'], '\ufeffvalue'],
    [[], ''],
  ])('removes the trailing newline of %j', async (chunks, value) => {
    expect(await piped(...chunks)).toBe(value);
  });

  test('decodes a character that arrives in two chunks', async () => {
    const bytes = Buffer.from('é');
    expect(await piped(bytes.subarray(0, 1), bytes.subarray(1))).toBe('é');
  });

  test('stops reading input that exceeds the limit', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(10_000, 'x');
    }
    const value = await readValue('a', Readable.from(endless()) as NodeJS.ReadStream, new PassThrough());
    expect(value?.length).toBeGreaterThan(64 * 1024);
  });
});

describe('hidden line', () => {
  const PASTE = ['\u001b[200~', '\u001b[201~'];

  async function typed(...keys: string[]): Promise<{ value: string | undefined; shown: string }> {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const prompt = new PassThrough();
    const reading = readValue('a', input as unknown as NodeJS.ReadStream, prompt);
    for (const key of keys) input.write(key);
    return { value: await reading, shown: String(prompt.read()) };
  }

  test.each<[string, string[], string | undefined]>([
    ['a line', ['abc\r'], 'abc'],
    ['a removed character', ['abx\u007fc\r'], 'abc'],
    ['a removed line', ['abc\u0015d\r'], 'd'],
    ['Ctrl-C', ['abc\u0003'], undefined],
    ['Ctrl-D without text', ['\u0004'], undefined],
    ['pasted lines', [`${PASTE[0]}a\rb\r\nc${PASTE[1]}`, '\r'], 'a\nb\nc'],
    ['a character in two chunks', ['caf', 'é\r'], 'café'],
  ])('reads %s without echo', async (_, keys, value) => {
    const read = await typed(...keys);
    expect(read.value).toBe(value);
    expect(read.shown).toBe('Value of a (input is hidden): \u001b[?2004h\u001b[?2004l\n');
  });
});
