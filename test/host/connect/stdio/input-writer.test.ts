import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { InputWriter } from '../../../../src/host/connect/stdio/input-writer.ts';

/** A stream that keeps what is written; `pass` lets the write that is under way be done. */
function sink(highWaterMark = 1000) {
  const written: string[] = [];
  let pass: (error?: Error) => void = () => {};
  const stream = new Writable({
    highWaterMark,
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      if (highWaterMark === 1000) done();
      else pass = done;
    },
  });
  return { stream, written, pass: (error?: Error) => pass(error) };
}

test('the first line goes out at once, the rest of the burst together, in order', async () => {
  const { stream, written } = sink();
  const writer = new InputWriter(stream);
  const sent = ['a', 'b', 'c'].map((line) => writer.write(line));
  expect(written).toEqual(['a\n']);
  await Promise.all(sent);
  expect(written).toEqual(['a\n', 'b\nc\n']);
  await writer.write('d');
  expect(written).toEqual(['a\n', 'b\nc\n', 'd\n']);
});

test('a line waits until there is room for more', async () => {
  const { stream, pass } = sink(4);
  const writer = new InputWriter(stream);
  let isDone = false;
  const sent = writer.write('a long line').then(() => {
    isDone = true;
  });
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  pass();
  await sent;
});

test('nothing is added to what a server does not read, and one message may be as long as it likes', async () => {
  const { stream, written, pass } = sink(4);
  const writer = new InputWriter(stream, 100);
  const first = writer.write('x'.repeat(1000));
  await new Promise(setImmediate);
  await expect(writer.write('y')).rejects.toMatchObject({
    code: 'not-reading',
    wasSent: false,
    message: 'it does not read its input: 1001 bytes wait for it',
  });
  pass();
  await first;
  void writer.write('z');
  await new Promise(setImmediate);
  expect(written.map((it) => it[0])).toEqual(['x', 'z']);
});

test('the end comes after what was written, and nothing after the end', async () => {
  const { stream, written } = sink();
  const writer = new InputWriter(stream);
  void writer.write('a');
  void writer.write('b');
  writer.end();
  await expect(writer.write('c')).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
  expect(written).toEqual(['a\n', 'b\n']);
  expect(stream.writableEnded).toBe(true);
});

test('who waits hears of a broken pipe, whoever does not is not harmed, and it stays broken', async () => {
  const { stream, pass } = sink(4);
  const writer = new InputWriter(stream);
  const waiting = writer.write('a long line');
  void writer.write('another');
  await new Promise(setImmediate);
  pass(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  const clear = { code: 'EPIPE', message: 'the server does not read its input any more (EPIPE)' };
  await expect(waiting).rejects.toMatchObject(clear);
  await expect(writer.write('more')).rejects.toMatchObject(clear);
});
