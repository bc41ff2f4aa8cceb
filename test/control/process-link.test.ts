import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ProcessExitError,
  ProcessLink,
  type ProcessLinkOptions,
  type SpawnAgentOptions,
  spawnAgent,
} from '../../src/control/process-link.ts';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { collect } from '../support/collect.ts';
import { FakeProcess } from './fake-process.ts';

describe('process link', () => {
  function open(options: Partial<ProcessLinkOptions> = {}) {
    const process = new FakeProcess();
    const link = new ProcessLink(process, { maxLineLength: 1_000, graceMs: 1_000, ...options });
    return { process, link };
  }

  /** The frames of a process that prints these chunks and exits with code 0. */
  async function said(chunks: readonly (string | Buffer)[], options: Partial<ProcessLinkOptions> = {}) {
    const { process, link } = open(options);
    for (const chunk of chunks) process.stdout.write(chunk);
    process.stdout.end();
    process.exit(0);
    return collect(link.frames);
  }

  describe('output of the process', () => {
    test('frames arrive whole for any chunking', async () => {
      const bytes = Buffer.from('{"text":"é😀\u2028"}\r\n\n{"n":2}\n');
      const each = [...bytes].map((byte) => Buffer.of(byte));
      expect(await said(each)).toEqual([{ text: 'é😀\u2028' }, { n: 2 }]);
      expect(await said([bytes])).toEqual([{ text: 'é😀\u2028' }, { n: 2 }]);
    });

    test('noise is reported; a last line without a newline is delivered, a partial frame is not', async () => {
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
        message:
          'The agent sent a line of 16 characters, more than maxLineLength (10); raise it, or return less data from the tool',
      });
      expect(frames).toEqual([{ n: 1 }]);
    });
  });

  describe('exit of the process', () => {
    test('all output is delivered before the end, even if the exit event comes first', async () => {
      const { process, link } = open();
      process.exit(0);
      process.stdout.write('{"n":1}\n');
      process.stdout.end('{"n":2}');
      expect(await collect(link.frames)).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('waits for stderr, so that the error includes its last lines', async () => {
      const stderrEnded = Promise.withResolvers<void>();
      const { process, link } = open({ stderrEnded: stderrEnded.promise });
      process.stdout.end();
      process.exit(2);
      setImmediate(() => {
        link.noteStderr('fatal: token sk-ant-0123456789abcdef');
        stderrEnded.resolve();
      });
      const fault = await collect(link.frames).catch((error: ProcessExitError) => error);
      expect(fault).toBeInstanceOf(ProcessExitError);
      expect(fault).toMatchObject({
        code: 'process-exited',
        exitCode: 2,
        message: 'Claude Code process exited with code 2. stderr: fatal: token sk-[redacted]',
      });
    });

    test('the error names the signal', async () => {
      const { process, link } = open();
      process.stdout.end();
      process.exit(null, 'SIGKILL');
      await expect(collect(link.frames)).rejects.toMatchObject({
        code: 'process-exited',
        message: 'Claude Code process terminated by signal SIGKILL',
      });
    });

    test('detects a process that has already exited', async () => {
      const process = new FakeProcess();
      process.exitCode = 7;
      process.stdout.end();
      const link = new ProcessLink(process, { maxLineLength: 10, graceMs: 10 });
      await expect(collect(link.frames)).rejects.toMatchObject({ exitCode: 7 });
    });

    describe('when another process holds stdout open', () => {
      beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
      afterEach(() => vi.useRealTimers());

      /** Advances the clock and runs everything that has waited for it. */
      const pass = async (ms: number) => {
        await vi.advanceTimersByTimeAsync(ms);
        await new Promise((resolve) => setImmediate(resolve));
      };

      test('a silent stdout is not waited for', async () => {
        const { process, link } = open();
        const frames = collect(link.frames);
        process.stdout.write('{"n":1}\n');
        process.exit(0);
        await pass(499);
        process.stdout.write('{"n":2}\n');
        for (let i = 0; i < 3; i++) await pass(500);
        expect(await frames).toEqual([{ n: 1 }, { n: 2 }]);
      });

      test('pending output after a blocked event loop is not lost', async () => {
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

  describe('input of the process', () => {
    test('frames are written as lines, in order', async () => {
      const { process, link } = open();
      const sent = Array.from({ length: 64 }, (_, n) => link.send({ n }));
      link.end();
      await Promise.all(sent);
      const text = Buffer.concat(await process.stdin.toArray()).toString();
      expect(text).toBe(Array.from({ length: 64 }, (_, n) => `{"n":${n}}\n`).join(''));
    });

    test('rejects a frame that is not serializable immediately', () => {
      expect(() => open().link.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
    });

    test('rejects frames after the end immediately', async () => {
      const { link } = open();
      link.end();
      await expect(link.send({ n: 1 })).rejects.toThrow('the input has ended');
    });

    test('a broken stdin is reported as the exit that caused it', async () => {
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

    test('a broken stdin of a running process is reported as such', async () => {
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

    test('a process that ends with SIGTERM gets no SIGKILL, and its code is not an error', async () => {
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

    test('a process that ignores everything gets SIGKILL, and closing is bounded', async () => {
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

    test('a custom spawner that passes the signal to Node gets an abort; the exit is still awaited', async () => {
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

    test('a process that has ended is not waited for', async () => {
      const { process, link } = open();
      process.stdout.end();
      process.exit(0);
      await link.close();
      expect(process.signals).toEqual([]);
    });

    test('a process that could not be started is not waited for, and the error is reported', async () => {
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
      'a grace period of %d ms does not signal immediately',
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
      'a signal that cannot be sent, reported by %s, is not a spawn error',
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

  describe('an error of a started process is reported and closes it', () => {
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

    test('when it has written output', async () => {
      const { process, link } = open();
      process.stdout.write('{"n":1}\n');
      expect(await link.frames.next()).toEqual({ done: false, value: { n: 1 } });
      process.emit('error', cause);
      await expect(collect(link.frames)).rejects.toMatchObject(fault);
    });
  });

  test('gone resolves when the process has exited or could not be started', async () => {
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
});

describe('spawn agent', () => {
  const AGENT = fileURLToPath(new URL('../support/fixtures/agent.mjs', import.meta.url));
  const HERE = fileURLToPath(new URL('.', import.meta.url));

  /** Starts the fixture agent with the given behaviour; it is closed after the test. */
  function start(behaviour: string[], options: Partial<SpawnAgentOptions> = {}): ProcessLink {
    const request = { command: process.execPath, args: [AGENT, ...behaviour], cwd: undefined, env: {} };
    const link = spawnAgent(request, { maxLineLength: 100_000, graceMs: 5_000, ...options });
    onTestFinished(() => link.close());
    return link;
  }

  async function first(link: ProcessLink): Promise<Frame> {
    return (await link.frames.next()).value as Frame;
  }

  test('R52 frames are echoed in order, and the end of the input ends the process', async () => {
    const link = start(['echo']);
    for (let n = 0; n < 64; n++) void link.send({ n });
    link.end();
    expect(await collect(link.frames)).toEqual(Array.from({ length: 64 }, (_, n) => ({ n })));
  });

  test('C32 the process gets exactly the given arguments, directory and environment', async () => {
    const request = {
      command: process.execPath,
      args: [AGENT, 'introduce', '--flag=a b'],
      cwd: HERE,
      env: { A: '1', B: undefined },
    };
    const link = spawnAgent(request, { maxLineLength: 10_000 });
    expect(await collect(link.frames)).toEqual([
      { type: 'introduced', args: ['--flag=a b'], cwd: HERE.replace(/[/\\]$/, ''), env: { A: '1' } },
    ]);
  });

  test('noise on stdout is skipped and reported', async () => {
    const noise: string[] = [];
    const link = start(['noise'], { onNoise: (line) => noise.push(line) });
    expect(await collect(link.frames)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(noise).toEqual(['Debugger attached.', '{"half":', '[1,2]']);
  });

  test('frames in pieces, and a last frame without a newline', async () => {
    expect(await collect(start(['pieces']).frames)).toEqual([{ text: 'é😀\u2028' }, { last: true }]);
  });

  test('an exit is reported after all frames, with its code and masked stderr', async () => {
    const texts: string[] = [];
    const link = start(['die'], { onStderr: (text) => texts.push(text) });
    expect(await first(link)).toEqual({ n: 1 });
    await expect(link.frames.next()).rejects.toMatchObject({
      code: 'process-exited',
      exitCode: 3,
      message:
        'Claude Code process exited with code 3. stderr: loading\nfatal: bad key sk-[redacted]\nno newline at the end',
    });
    expect(texts.join('')).toBe('loading\nfatal: bad key sk-ant-0123456789abcdef\nno newline at the end');
  });

  test('an exit before reading rejects every send with the stderr', async () => {
    const link = start(['refuse']);
    const death = { message: 'Claude Code process exited with code 1. stderr: unknown flag' };
    await expect(collect(link.frames)).rejects.toMatchObject(death);
    await expect(link.send({ n: 1 })).rejects.toMatchObject(death);
  });

  test('a process that ignores the end of its input gets SIGTERM', async () => {
    const link = start(['deaf'], { graceMs: 50 });
    expect(await first(link)).toEqual({ type: 'ready' });
    await link.close();
    expect(await collect(link.frames)).toEqual([]);
  });

  test('a process that ignores SIGTERM gets SIGKILL', async () => {
    const link = start(['stubborn'], { graceMs: 50 });
    expect(await first(link)).toEqual({ type: 'ready' });
    await link.close();
    expect(await collect(link.frames)).toEqual([{ type: 'SIGTERM ignored' }]);
  });

  test('a line that is too long fails the link and ends the process', async () => {
    const link = start(['long', '200000'], { graceMs: 50 });
    await expect(collect(link.frames)).rejects.toMatchObject({
      code: 'line-too-long',
      message: expect.stringMatching(
        /^The agent sent a line of \d+ characters, more than maxLineLength \(100000\); raise it/,
      ),
    });
    await link.close();
  });

  test('a line of 20 MB passes in both directions, and sending waits for room', async () => {
    const text = 'é'.repeat(10 * 1024 * 1024);
    const link = start(['echo'], { maxLineLength: 30 * 1024 * 1024 });
    await link.send({ text });
    link.end();
    const [frame] = await collect(link.frames);
    expect((frame as { text: string }).text === text).toBe(true);
  });

  test('sending waits while the agent does not read', async () => {
    let child: ChildProcess | undefined;
    const link = start(['busy'], {
      spawn: ({ command, args }) => {
        child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        return child as never;
      },
    });
    expect(await first(link)).toEqual({ type: 'ready' });
    let isSent = false;
    const sent = link.send({ text: 'x'.repeat(1024 * 1024) }).then(() => {
      isSent = true;
    });
    const answer = first(link);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(false);
    child?.kill('SIGUSR2');
    await sent;
    expect(await answer).toEqual({ length: 1024 * 1024 + 11 });
  });

  test('an agent that closes its input rejects further frames', async () => {
    const link = start(['shut'], { graceMs: 50 });
    expect(await first(link)).toEqual({ type: 'ready' });
    await expect(link.send({ text: 'x'.repeat(1024 * 1024) })).rejects.toThrow(/EPIPE|closed/);
  });

  test('a grandchild that holds stdout open is not waited for', async () => {
    const link = start(['orphan']);
    const frames = await collect(link.frames);
    expect(frames).toEqual([{ pid: expect.any(Number) }]);
    process.kill(Number(frames[0]?.pid));
  });

  test('a missing executable and a missing directory have different errors', async () => {
    const env = {};
    const missing = spawnAgent({ command: '/no/such/agent', args: [], env }, { maxLineLength: 10 });
    await expect(collect(missing.frames)).rejects.toMatchObject({
      code: 'spawn-failed',
      message: 'The agent could not be started: spawn /no/such/agent ENOENT',
    });
    await missing.close();
    expect(() =>
      spawnAgent({ command: process.execPath, args: [], cwd: '/no/such/dir', env }, { maxLineLength: 10 }),
    ).toThrow(
      expect.objectContaining({
        code: 'spawn-failed',
        message:
          'The agent cannot be started: cwd /no/such/dir does not exist; create the directory, or set another cwd',
      }),
    );
  });

  test('an error thrown by spawn is reported as spawn-failed', () => {
    const huge = ['x'.repeat(4 * 1024 * 1024)];
    for (const request of [
      { command: process.execPath, args: huge, env: {} },
      { command: '', args: [], env: {} },
    ]) {
      expect(() => spawnAgent(request, { maxLineLength: 10 })).toThrow(
        expect.objectContaining({
          code: 'spawn-failed',
          message: expect.stringMatching(/^The agent could not be started: /),
          cause: expect.any(Error),
        }),
      );
    }
  });

  test('a custom spawner gets the request and a signal that aborts only after the grace period', async () => {
    const requests: unknown[] = [];
    const env = { A: '1' };
    const own = (command: string) => {
      const args = [AGENT, command];
      const request = { command: process.execPath, args, cwd: HERE, env };
      return spawnAgent(request, {
        maxLineLength: 1_000,
        graceMs: 100,
        spawn: ({ signal, ...rest }) => {
          requests.push(rest);
          signal.addEventListener('abort', () => requests.push(`${command} forced`));
          return spawn(rest.command, rest.args, { signal, stdio: ['pipe', 'pipe', 'inherit'] }) as never;
        },
      });
    };
    for (const behaviour of ['echo', 'deaf']) {
      const link = own(behaviour);
      if (behaviour === 'deaf') expect(await first(link)).toEqual({ type: 'ready' });
      else void link.send({ n: 1 }).then(() => link.end());
      if (behaviour === 'echo') expect(await first(link)).toEqual({ n: 1 });
      await link.close();
      expect(await collect(link.frames)).toEqual([]);
    }
    expect(requests).toEqual([
      { command: process.execPath, args: [AGENT, 'echo'], cwd: HERE, env },
      { command: process.execPath, args: [AGENT, 'deaf'], cwd: HERE, env },
      'deaf forced',
    ]);
  });
});
