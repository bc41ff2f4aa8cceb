import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineWriter } from '../../src/base/line-writer.ts';

/** A stream that takes one write at a time, when told to. */
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

test('R118 lines leave whole and in order, whoever writes them', async () => {
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

test('lines of one turn leave in one write', async () => {
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

test('a line written before the end settles when it is out, though streams do not drain while ending', async () => {
  const { stream, accept } = slowStream(4);
  const writer = new LineWriter(stream);
  const sent = writer.write('a long line');
  writer.end();
  expect(await isSettled(sent)).toBe(false);
  accept();
  await expect(sent).resolves.toBeUndefined();
});

test('a line after the end is refused, and what was written before still goes out', async () => {
  const { stream, written, accept } = slowStream(4);
  const writer = new LineWriter(stream);
  const first = writer.write('a long line');
  const second = writer.write('another');
  writer.end();
  await expect(writer.write('late')).rejects.toThrow('the input was ended');
  const finished = once(stream, 'finish');
  accept();
  await Promise.all([first, second, finished]);
  expect(written).toEqual(['a long line\nanother\n']);
});

test('a broken stream fails the waiting lines and every later one with the same cause', async () => {
  const { stream } = slowStream(4);
  const writer = new LineWriter(stream);
  const waiting = writer.write('a long line');
  expect(await isSettled(waiting)).toBe(false);
  stream.destroy(new Error('EPIPE'));
  await expect(waiting).rejects.toThrow('EPIPE');
  await expect(writer.write('later')).rejects.toThrow('EPIPE');
});

test('a stream that closes silently fails what waits', async () => {
  const { stream } = slowStream(4);
  const writer = new LineWriter(stream);
  const waiting = writer.write('a long line');
  stream.destroy();
  await expect(waiting).rejects.toThrow('the stream is closed');
  writer.end();
});

test('nobody has to wait for a line: a failure is no unhandled rejection', async () => {
  const { stream } = slowStream(4);
  const writer = new LineWriter(stream);
  void writer.write('a long line');
  stream.destroy(new Error('EPIPE'));
  await new Promise((resolve) => stream.once('close', resolve));
  void writer.write('later');
  await new Promise((resolve) => setImmediate(resolve));
});
