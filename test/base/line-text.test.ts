import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineText } from '../../src/base/line-text.ts';

function read(chunks: readonly (Buffer | string)[]): string {
  const text = new LineText();
  return chunks.map((chunk) => text.write(chunk)).join('') + text.end();
}

test('bytes cut anywhere, also inside a character, give the same text', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 8 }).map((it) => `${it}é😀\n`);
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, places) => {
      const bytes = Buffer.from(lines.join(''));
      const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
      const chunks = [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
      expect(read(chunks)).toBe(lines.join(''));
    }),
  );
});

test.each<[string, (Buffer | string)[], string]>([
  ['a character that never ends', [Buffer.from([0x61, 0xc3])], 'a\ufffd'],
  ['one cut by the end of a line', [Buffer.from([0xc3, 0x0a]), Buffer.from('b\n')], '\ufffd\nb\n'],
  ['text is passed on', ['é\n', 'b'], 'é\nb'],
  ['nothing', [Buffer.alloc(0)], ''],
])('%s', (_name, chunks, expected) => {
  expect(read(chunks)).toBe(expected);
});
