import { StringDecoder } from 'node:string_decoder';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../src/base/lines.ts';

type Seen = { lines: string[]; tooLong: number };

function split(chunks: readonly string[], maxLength = 1_000): Seen {
  const seen: Seen = { lines: [], tooLong: 0 };
  const splitter = new LineSplitter({
    maxLength,
    onLine: (line) => seen.lines.push(line),
    onTooLong: () => seen.tooLong++,
  });
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return seen;
}

/** Cuts a text at the given places, wherever they fall. */
function cut<T extends string | Buffer>(whole: T, places: readonly number[]): T[] {
  const at = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => whole.slice(from, at[index] ?? whole.length) as T);
}

const places = fc.array(fc.nat(2_000), { maxLength: 12 });
/** Lines as JSON has them: no raw newline or carriage return, not blank, but U+2028 and whatever else. */
const line = fc
  .string({ unit: 'binary', maxLength: 30 })
  .map((text) => `{${text.replaceAll(/[\r\n]/g, '\u2028')}}`);

test.each<[string, string[], string[]]>([
  ['several lines in one chunk', ['{"a":1}\n{"b":2}\n'], ['{"a":1}', '{"b":2}']],
  ['a line in several chunks', ['{"a"', ':', '1}\n'], ['{"a":1}']],
  ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
  ['CRLF cut in the middle', ['a\r', '\nb'], ['a', 'b']],
  ['only the last carriage return is dropped', ['a\r\r\n'], ['a\r']],
  ['blank lines and white space are skipped', ['\n\n  \r\n\t\na\n'], ['a']],
  ['U+2028 and U+2029 do not split', ['a\u2028b\u2029c\n'], ['a\u2028b\u2029c']],
  ['a last line without a newline is delivered', ['a\nb'], ['a', 'b']],
  ['nothing at all', [], []],
])('%s', (_name, chunks, lines) => {
  expect(split(chunks)).toEqual({ lines, tooLong: 0 });
});

test('where ends may be kept, lines are the same but for their ends, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), places, (lines, end, at) => {
      const seen: string[] = [];
      const splitter = new LineSplitter({
        maxLength: 1_000,
        keepsEnds: true,
        onLine: (it) => seen.push(it.replace(/\r?\n$/, '')),
        onTooLong: () => seen.push('too long'),
      });
      for (const chunk of cut(lines.map((it) => it + end).join(''), at)) splitter.write(chunk);
      splitter.end();
      expect(seen).toEqual(lines);
    }),
  );
});

test('any chunking of any lines gives the same lines', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), places, (lines, end, at) => {
      const text = lines.map((it) => it + end).join('');
      expect(split(cut(text, at))).toEqual({ lines, tooLong: 0 });
    }),
  );
});

test('bytes cut anywhere, also inside a character, give the same lines', () => {
  const text = fc.array(fc.string({ unit: 'grapheme', maxLength: 10 }).map((it) => `"${it}é😀"`));
  fc.assert(
    fc.property(text, places, (lines, at) => {
      const decoder = new StringDecoder('utf8');
      const bytes = Buffer.from(lines.map((it) => `${it}\n`).join(''));
      const chunks = cut(bytes, at).map((chunk) => decoder.write(chunk));
      expect(split(chunks)).toEqual({ lines, tooLong: 0 });
    }),
  );
});

test('a line that is too long is reported once, nothing of it is delivered, and its neighbours are', () => {
  const length = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(
      fc.array(length, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      places,
      (lengths, end, at) => {
        const lines = lengths.map((it) => 'x'.repeat(it));
        expect(split(cut(lines.map((it) => it + end).join(''), at), 20)).toEqual({
          lines: lines.filter((it) => it.length <= 20),
          tooLong: lines.filter((it) => it.length > 20).length,
        });
      },
    ),
  );
});

test('a line that never ends is reported as soon as it is too long, and its memory is freed', () => {
  const reported: number[] = [];
  const splitter = new LineSplitter({
    maxLength: 10,
    onLine: () => {},
    onTooLong: (it) => reported.push(it),
  });
  for (let i = 0; i < 1_000; i++) splitter.write('xxxx');
  splitter.end();
  expect(reported).toEqual([12]);
});
