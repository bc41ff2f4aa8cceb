import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ExitFault, ProcessLink, type ProcessLinkOptions } from '../../src/control/process-link.ts';
import { collect } from '../support/collect.ts';
import { FakeProcess } from '../support/fake-process.ts';

function open(options: Partial<ProcessLinkOptions> = {}) {
  const process = new FakeProcess();
  const link = new ProcessLink(process, { maxLineLength: 1_000, graceMs: 1_000, ...options });
  return { process, link };
}

/** The process says this and ends well. */
async function said(chunks: readonly (string | Buffer)[], options: Partial<ProcessLinkOptions> = {}) {
  const { process, link } = open(options);
  for (const chunk of chunks) process.stdout.write(chunk);
  process.stdout.end();
  process.exit(0);
  return collect(link.frames);
}

describe('what it says', () => {
  test('frames arrive whole, wherever the bytes were cut', async () => {
    const bytes = Buffer.from('{"text":"é😀\u2028"}\r\n\n{"n":2}\n');
    const each = [...bytes].map((byte) => Buffer.of(byte));
    expect(await said(each)).toEqual([{ text: 'é😀\u2028' }, { n: 2 }]);
    expect(await said([bytes])).toEqual([{ text: 'é😀\u2028' }, { n: 2 }]);
  });

  test('noise is skipped and told; a last line without a newline is delivered, half a frame is not', async () => {
    const noise: string[] = [];
    const onNoise = (line: string) => noise.push(line);
    expect(await said(['hello\n{"n":1}\n[1]\n{"n":2}'], { onNoise })).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await said(['{"n":1}\n{"n":'], { onNoise })).toEqual([{ n: 1 }]);
    expect(noise).toEqual(['hello', '[1]', '{"n":']);
  });

  test('a line that is too long fails the link at once and ends the process', async () => {
    const { process, link } = open({ maxLineLength: 10 });
    process.stdout.write('{"n":1}\n{"x":"xxxxxxxxxx');
    process.stdin.resume();
    await once(process.stdin, 'end');
    process.stdout.write('xxxx"}\n{"n":2}\n');
    process.exit(0);
    const frames: unknown[] = [];
    const read = (async () => {
      for await (const frame of link.frames) frames.push(frame);
    })();
    await expect(read).rejects.toMatchObject({
      code: 'line-too-long',
      message: 'The agent sent a line of 16 characters; maxLineLength is 10',
    });
    expect(frames).toEqual([{ n: 1 }]);
  });
});

describe('its end', () => {
  test('everything it wrote is delivered before its end, though the exit is heard first', async () => {
    const { process, link } = open();
    process.exit(0);
    process.stdout.write('{"n":1}\n');
    process.stdout.end('{"n":2}');
    expect(await collect(link.frames)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('stderr is waited for, so that the last words are told', async () => {
    const stderrEnded = Promise.withResolvers<void>();
    const { process, link } = open({ stderrEnded: stderrEnded.promise });
    process.stdout.end();
    process.exit(2);
    setImmediate(() => {
      link.noteStderr('fatal: token sk-ant-0123456789abcdef');
      stderrEnded.resolve();
    });
    const fault = await collect(link.frames).catch((error: ExitFault) => error);
    expect(fault).toBeInstanceOf(ExitFault);
    expect(fault).toMatchObject({
      code: 'process-exited',
      exitCode: 2,
      message: 'Claude Code process exited with code 2. stderr: fatal: token sk-[redacted]',
    });
  });

  test('a signal is named', async () => {
    const { process, link } = open();
    process.stdout.end();
    process.exit(null, 'SIGKILL');
    await expect(collect(link.frames)).rejects.toMatchObject({
      code: 'process-exited',
      message: 'Claude Code process terminated by signal SIGKILL',
    });
  });

  test('a process that had exited before is noticed', async () => {
    const process = new FakeProcess();
    process.exitCode = 7;
    process.stdout.end();
    const link = new ProcessLink(process, { maxLineLength: 10, graceMs: 10 });
    await expect(collect(link.frames)).rejects.toMatchObject({ exitCode: 7 });
  });

  describe('when somebody else holds its stdout open', () => {
    beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => vi.useRealTimers());

    /** The clock goes on, and whatever waited for it happens. */
    const pass = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };

    test('it is not waited for once it is silent', async () => {
      const { process, link } = open();
      const frames = collect(link.frames);
      process.stdout.write('{"n":1}\n');
      process.exit(0);
      await pass(499);
      process.stdout.write('{"n":2}\n');
      for (let i = 0; i < 3; i++) await pass(500);
      expect(await frames).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('what waits in the pipe after a long pause of ours is not lost', async () => {
      const { process, link } = open();
      const frames = collect(link.frames);
      process.exit(0);
      // Time passes before anything is read, as when the event loop was blocked.
      vi.advanceTimersByTime(500);
      process.stdout.write('{"type":"result"}\n');
      process.stdout.end();
      expect(await frames).toEqual([{ type: 'result' }]);
    });
  });
});

describe('what we say', () => {
  test('leaves as lines, in order', async () => {
    const { process, link } = open();
    const sent = Array.from({ length: 64 }, (_, n) => link.send({ n }));
    link.end();
    await Promise.all(sent);
    const text = Buffer.concat(await process.stdin.toArray()).toString();
    expect(text).toBe(Array.from({ length: 64 }, (_, n) => `{"n":${n}}\n`).join(''));
  });

  test('what is no JSON is refused at once', () => {
    expect(() => open().link.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
  });

  test('what comes after the end is refused at once', async () => {
    const { link } = open();
    link.end();
    await expect(link.send({ n: 1 })).rejects.toThrow('the input was ended');
  });

  test('input that breaks is told as the death it came from', async () => {
    const { process, link } = open();
    process.stdin.destroy(new Error('write EPIPE'));
    const sent = link.send({ n: 1 });
    const frames = collect(link.frames);
    process.stdout.end();
    link.noteStderr('unknown flag');
    process.exit(1);
    const death = { message: 'Claude Code process exited with code 1. stderr: unknown flag' };
    await expect(frames).rejects.toMatchObject(death);
    await expect(sent).rejects.toMatchObject(death);
  });

  test('input that breaks while the process lives on is told as such', async () => {
    const { process, link } = open();
    process.stdin.destroy(new Error('write EPIPE'));
    await expect(link.send({ n: 1 })).rejects.toThrow('write EPIPE');
  });
});

describe('closing', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('C26 a process that ends with its input gets no signal', async () => {
    const { process, link } = open();
    process.stdin.resume().on('end', () => process.exit(0));
    await link.close();
    expect(process.signals).toEqual([]);
    process.stdout.end();
    expect(await collect(link.frames)).toEqual([]);
  });

  test('one that ends with SIGTERM gets no SIGKILL, and its code is no failure', async () => {
    const { process, link } = open();
    process.onSignal = () => process.exit(null, 'SIGTERM');
    const closing = link.close();
    await vi.advanceTimersByTimeAsync(999);
    expect(process.signals).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    expect(process.signals).toEqual(['SIGTERM']);
    process.stdout.end();
    expect(await collect(link.frames)).toEqual([]);
  });

  test('one that ignores everything gets SIGKILL, and even then nobody waits forever', async () => {
    const onForce = vi.fn();
    const { process, link } = open({ onForce });
    const frames = collect(link.frames);
    const closing = Promise.all([link.close(), link.close()]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([process.signals, onForce.mock.calls.length]).toEqual([['SIGTERM'], 1]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(process.signals).toEqual(['SIGTERM', 'SIGKILL']);
    await vi.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(await frames).toEqual([]);
  });

  test('a spawner that hands our signal to node hears of an abort; the exit is waited for all the same', async () => {
    const forced = new AbortController();
    const { process, link } = open({ onForce: () => forced.abort() });
    forced.signal.addEventListener('abort', () => {
      process.emit('error', new DOMException('The operation was aborted', 'AbortError'));
    });
    const frames = collect(link.frames);
    let isClosed = false;
    const closing = link.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(isClosed).toBe(false);
    process.stdout.end();
    process.exit(null, 'SIGTERM');
    await closing;
    expect(await frames).toEqual([]);
  });

  test('one that is already gone is not waited for', async () => {
    const { process, link } = open();
    process.stdout.end();
    process.exit(0);
    await link.close();
    expect(process.signals).toEqual([]);
  });

  test('one that could not be started is not waited for, and says why', async () => {
    const { process, link } = open();
    const cause = new Error('spawn nope ENOENT');
    process.emit('error', cause);
    await link.close();
    await expect(collect(link.frames)).rejects.toMatchObject({
      code: 'spawn-failed',
      message: 'The agent could not be started: spawn nope ENOENT',
      cause,
    });
  });

  test.each([3_000_000_000, Number.POSITIVE_INFINITY])(
    'a grace of %d ms is no reason to signal at once',
    async (graceMs) => {
      const { process, link } = open({ graceMs });
      const closing = link.close();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(process.signals).toEqual([]);
      process.exit(0);
      await closing;
    },
  );

  test.each(['an error event', 'an exception'])(
    'a signal that cannot be sent, told by %s, is no failure to start',
    async (by) => {
      const { process, link } = open();
      process.onSignal = (signal) => {
        const cause = new Error(`kill EPERM ${signal}`);
        if (by === 'an exception') throw cause;
        process.emit('error', cause);
      };
      const frames = collect(link.frames);
      const closing = link.close();
      await vi.advanceTimersByTimeAsync(3_000);
      await closing;
      expect(process.signals).toEqual(['SIGTERM', 'SIGKILL']);
      expect(await frames).toEqual([]);
    },
  );
});

describe('an error of a process that was started is told as its end, and ends it', () => {
  const cause = new Error('the container is gone');
  const fault = {
    code: 'process-exited',
    message: "The agent's process failed: the container is gone",
    cause,
  };

  test('when it has an id', async () => {
    const { process, link } = open();
    Object.assign(process, { pid: 42 }).emit('error', cause);
    await expect(collect(link.frames)).rejects.toMatchObject(fault);
    process.stdin.resume();
    await once(process.stdin, 'end');
  });

  test('when it has said something', async () => {
    const { process, link } = open();
    process.stdout.write('{"n":1}\n');
    expect(await link.frames.next()).toEqual({ done: false, value: { n: 1 } });
    process.emit('error', cause);
    await expect(collect(link.frames)).rejects.toMatchObject(fault);
  });
});

test('it is gone when it has exited or could not be started, and not before', async () => {
  const exited = open();
  let isGone = false;
  void exited.link.gone.then(() => {
    isGone = true;
  });
  Object.assign(exited.process, { pid: 42 }).emit('error', new Error('kill EPERM'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isGone).toBe(false);
  exited.process.exit(0);
  await exited.link.gone;
  const missing = open();
  missing.process.emit('error', new Error('spawn nope ENOENT'));
  await missing.link.gone;
});
