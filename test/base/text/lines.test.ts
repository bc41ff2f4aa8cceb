import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineRing, LineSplitter, LineText, LineWriter } from '../../../src/base/text/lines.ts';

describe('lines', () => {
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
  /** Lines as JSON text contains them: without raw newlines and carriage returns, not blank, but with U+2028. */
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

  test('with keepsEnds, lines differ only by their line ends', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        places,
        (lines, end, at) => {
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
        },
      ),
    );
  });

  test('any chunking gives the same lines', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        places,
        (lines, end, at) => {
          const text = lines.map((it) => it + end).join('');
          expect(split(cut(text, at))).toEqual({ lines, tooLong: 0 });
        },
      ),
    );
  });

  test('any chunking of bytes, also inside a character, gives the same lines', () => {
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

  test('an oversized line is reported once and dropped; other lines are delivered', () => {
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

  test('an endless line is reported when it is too long, and its memory is freed', () => {
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
});

describe('line text', () => {
  function read(chunks: readonly (Buffer | string)[]): string {
    const text = new LineText();
    return chunks.map((chunk) => text.write(chunk)).join('') + text.end();
  }

  test('any chunking of bytes, also inside a character, gives the same text', () => {
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
});

describe('line writer', () => {
  /** A stream that completes one write at a time, when the test tells it to. */
  function slowStream(highWaterMark = 8) {
    const written: string[] = [];
    let accept: (() => void) | undefined;
    const stream = new Writable({
      highWaterMark,
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        written.push(chunk);
        accept = () => done();
      },
    });
    return { stream, written, accept: () => accept?.() };
  }

  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    const turn = new Promise((resolve) => setImmediate(() => resolve('pending')));
    return (await Promise.race([promise.catch(() => {}), turn])) !== 'pending';
  }

  test('R118 concurrent lines are written whole and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 4 }), { maxLength: 6 }),
        async (turns) => {
          const stream = new PassThrough();
          const writer = new LineWriter(stream);
          for (const lines of turns) {
            await Promise.all(lines.map((line) => writer.write(line)));
          }
          writer.end();
          const text = (await stream.toArray()).join('');
          expect(text).toBe(
            turns
              .flat()
              .map((line) => `${line}\n`)
              .join(''),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  test('lines of one turn are written together', async () => {
    const { stream, written } = slowStream(1_000);
    const writer = new LineWriter(stream);
    await Promise.all([writer.write('a'), writer.write('b')]);
    expect(written).toEqual(['a\nb\n']);
  });

  test('a line settles once the stream has room again', async () => {
    const { stream, written, accept } = slowStream(4);
    const writer = new LineWriter(stream);
    const sent = writer.write('a long line');
    expect(await isSettled(sent)).toBe(false);
    expect(written).toEqual(['a long line\n']);
    accept();
    await sent;
  });

  test('a line written before the end settles when it is flushed', async () => {
    const { stream, accept } = slowStream(4);
    const writer = new LineWriter(stream);
    const sent = writer.write('a long line');
    writer.end();
    expect(await isSettled(sent)).toBe(false);
    accept();
    await expect(sent).resolves.toBeUndefined();
  });

  test('a line after the end is rejected; earlier lines are still written', async () => {
    const { stream, written, accept } = slowStream(4);
    const writer = new LineWriter(stream);
    const first = writer.write('a long line');
    const second = writer.write('another');
    writer.end();
    await expect(writer.write('late')).rejects.toThrow('the input has ended');
    const finished = once(stream, 'finish');
    accept();
    await Promise.all([first, second, finished]);
    expect(written).toEqual(['a long line\nanother\n']);
  });

  test('a broken stream rejects pending and later lines with the same error', async () => {
    const { stream } = slowStream(4);
    const writer = new LineWriter(stream);
    const waiting = writer.write('a long line');
    expect(await isSettled(waiting)).toBe(false);
    stream.destroy(new Error('EPIPE'));
    await expect(waiting).rejects.toThrow('EPIPE');
    await expect(writer.write('later')).rejects.toThrow('EPIPE');
  });

  test('a closed stream rejects pending lines', async () => {
    const { stream } = slowStream(4);
    const writer = new LineWriter(stream);
    const waiting = writer.write('a long line');
    stream.destroy();
    await expect(waiting).rejects.toThrow('the stream is closed');
    writer.end();
  });

  test('a failed line causes no unhandled rejection', async () => {
    const { stream } = slowStream(4);
    const writer = new LineWriter(stream);
    void writer.write('a long line');
    stream.destroy(new Error('EPIPE'));
    await new Promise((resolve) => stream.once('close', resolve));
    void writer.write('later');
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('LineRing', () => {
  test('keeps the last lines, truncated', () => {
    const ring = new LineRing(2, 3);
    for (const line of ['one', 'two', 'three']) ring.push(line);
    expect(ring.lines).toEqual(['two', 'thr…']);
  });
});
