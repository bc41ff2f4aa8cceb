import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HiddenLine, NO_LINE, readValue, typeHidden } from '../../../src/cli/terminal/hidden-input.ts';

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
  const ESC = '\u001b';

  test.each<[string, string, Partial<HiddenLine>]>([
    ['a line', 'abc\r', { text: 'abc', end: 'entered' }],
    ['nothing yet', 'abc', { text: 'abc' }],
    ['a character taken back', 'abx\u007fc\n', { text: 'abc', end: 'entered' }],
    ['a character of two halves taken back', 'a😀\bb\r', { text: 'ab', end: 'entered' }],
    ['all taken back', 'abc\u0015d\r', { text: 'd', end: 'entered' }],
    ['Ctrl-C', 'abc\u0003', { end: 'interrupted' }],
    ['Ctrl-D on nothing', '\u0004', { text: '', end: 'ended' }],
    ['Ctrl-D after something', 'abc\u0004', { text: 'abc', end: 'entered' }],
    ['arrows and other keys', `a${ESC}[Ab${ESC}OPc${ESC}[1;5D\u0001\r`, { text: 'abc', end: 'entered' }],
    ['the escape key', `${ESC}abc\r`, { text: 'abc', end: 'entered' }],
    [
      'a paste of lines',
      `${ESC}[200~a\rb\r\nc\u0003${ESC}[201~\r`,
      { text: 'a\nb\nc\u0003', end: 'entered' },
    ],
    ['what comes after the end', 'abc\rrm -r x\r', { text: 'abc', end: 'entered' }],
  ])('%s', (_, keys, expected) => {
    expect(typeHidden(NO_LINE, keys)).toMatchObject(expected);
  });

  test('the result does not depend on how keys are chunked', () => {
    const keys = fc.array(
      fc.constantFrom('a', 'b', '\u007f', `${ESC}[A`, `${ESC}[200~`, `${ESC}[201~`, '\n', '\u0015', '~'),
    );
    fc.assert(
      fc.property(keys, fc.array(fc.nat(40)), (typed, cuts) => {
        const all = typed.join('');
        const places = [0, ...cuts.map((it) => Math.min(it, all.length)), all.length].toSorted(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((to, at) => all.slice(places[at], to));
        expect(pieces.reduce(typeHidden, NO_LINE)).toEqual(typeHidden(NO_LINE, all));
      }),
    );
  });
});
