import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteLines } from '../../../../src/mcp/transports/stdio/message-lines.ts';

/** The lines of the chunks; a long line is represented by its bytes and its length. */
function read(chunks: Iterable<Uint8Array>, maxBytes = 1000) {
  const lines: (string | { long: string; bytes: number })[] = [];
  let pieces: Uint8Array[] = [];
  const reader = new ByteLines({
    maxBytes,
    onLine: (text) => lines.push(text),
    onLongPiece: (bytes) => pieces.push(Uint8Array.from(bytes)),
    onLongEnd: (bytes) => {
      lines.push({ long: Buffer.concat(pieces).toString(), bytes });
      pieces = [];
    },
  });
  for (const chunk of chunks) reader.write(Buffer.from(chunk));
  reader.end();
  return lines;
}

/** The bytes in pieces that end at the positions in `cuts`. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

const lineText = fc.string({ unit: 'grapheme', maxLength: 3000 }).map((text) => text.replaceAll('\n', ' '));

test('lines are the same however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(lineText, { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      (lines, cuts) => {
        const expected = lines
          .filter((line) => line !== '')
          .map((line) => {
            const bytes = Buffer.byteLength(line);
            return bytes > 1000
              ? { long: Buffer.from(line).toString(), bytes }
              : Buffer.from(line).toString();
          });
        expect(read(cut(Buffer.from(lines.join('\n')), cuts))).toEqual(expected);
      },
    ),
  );
});

test('a line may come byte by byte, beyond one block of small pieces', () => {
  const line = 'größer '.repeat(4000);
  const bytes = Buffer.from(`${line}\nnext\n`);
  expect(
    read(
      [...bytes].map((byte) => Uint8Array.of(byte)),
      1e6,
    ),
  ).toEqual([line, 'next']);
});

test('small and large pieces keep their order', () => {
  const parts = ['a', 'b'.repeat(5000), 'c', 'd'.repeat(20_000), 'e'.repeat(900), 'f'.repeat(17_000), '\n'];
  expect(
    read(
      parts.map((part) => Buffer.from(part)),
      1e6,
    ),
  ).toEqual([parts.join('').trimEnd()]);
});

test('bytes that are no UTF-8 become replacement characters', () => {
  expect(read([Uint8Array.of(0x61, 0xff, 0xc3, 10, 0xe2, 0x82, 10)])).toEqual(['a\ufffd\ufffd', '\ufffd']);
});

test('a line of just the most bytes is held, of one more it is not', () => {
  expect(read([Buffer.from('1234\n12345\nok')], 4)).toEqual(['1234', { long: '12345', bytes: 5 }, 'ok']);
});

test('only a newline ends a line', () => {
  expect(read([Buffer.from('a\u2028b\rc\n')])).toEqual(['a\u2028b\rc']);
});
