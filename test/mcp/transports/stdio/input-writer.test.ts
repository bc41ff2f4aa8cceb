import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { InputWriter } from '../../../../src/mcp/transports/stdio/input-writer.ts';

/** A stream that records writes; `pass` completes the current write. */
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

const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
const REPLY = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { method: 'none' } });

test('however much waits, requests and replies are added to it', async () => {
  const { stream, written, pass } = sink(4);
  const writer = new InputWriter(stream);
  const long = 'x'.repeat(30_000_000);
  const sent = [writer.write(long)];
  for (const line of [long, REQUEST, REPLY]) {
    await new Promise(setImmediate);
    sent.push(writer.write(line));
  }
  await new Promise(setImmediate);
  while (stream.writableLength > 0) {
    pass();
    await new Promise(setImmediate);
  }
  await Promise.all(sent);
  expect(written.map(({ length }) => length)).toEqual([
    30_000_001,
    30_000_001,
    REQUEST.length + 1,
    REPLY.length + 1,
  ]);
});

describe('a server that reads nothing for ten seconds', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is given no more replies, while requests go on waiting, until it reads again', async () => {
    const { stream, written, pass } = sink(4);
    const writer = new InputWriter(stream);
    const first = writer.write(REQUEST);
    await new Promise(setImmediate);
    vi.advanceTimersByTime(9_999);
    const early = writer.write(REPLY);
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1);
    await expect(writer.write(REPLY)).rejects.toMatchObject({ code: 'not-reading', wasSent: false });
    const late = writer.write(REQUEST);
    await new Promise(setImmediate);
    pass();
    await new Promise(setImmediate);
    const again = writer.write(REPLY);
    for (let passes = 0; passes < 3; passes++) {
      await new Promise(setImmediate);
      pass();
    }
    await Promise.all([first, early, late, again]);
    expect(written).toEqual([REQUEST, REPLY, REQUEST, REPLY].map((line) => `${line}\n`));
  });

  test('is not one that reads slowly', async () => {
    const { stream, pass } = sink(4);
    const writer = new InputWriter(stream);
    const sent: Promise<void>[] = [];
    for (let line = 0; line < 5; line++) {
      sent.push(writer.write(REQUEST));
      await new Promise(setImmediate);
    }
    for (let read = 0; read < 4; read++) {
      vi.advanceTimersByTime(9_000);
      sent.push(writer.write(REPLY));
      pass();
      await new Promise(setImmediate);
    }
    while (stream.writableLength > 0) {
      pass();
      await new Promise(setImmediate);
    }
    await Promise.all(sent);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is not watched once it has read all, or is gone', async () => {
    const { stream, pass } = sink(4);
    const writer = new InputWriter(stream);
    void writer.write(REQUEST);
    expect(vi.getTimerCount()).toBe(1);
    pass();
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
    void writer.write(REQUEST);
    expect(vi.getTimerCount()).toBe(1);
    stream.destroy();
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
  });
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

test('a waiting writer gets the broken pipe as an error, others do not throw, and the pipe stays broken', async () => {
  const { stream, pass } = sink(4);
  const writer = new InputWriter(stream);
  const waiting = writer.write('a long line');
  void writer.write('another');
  await new Promise(setImmediate);
  pass(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  const clear = { code: 'EPIPE', message: 'the server no longer reads its input (EPIPE)' };
  await expect(waiting).rejects.toMatchObject(clear);
  await expect(writer.write('more')).rejects.toMatchObject(clear);
});
