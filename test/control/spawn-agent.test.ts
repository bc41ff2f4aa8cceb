import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { ProcessLink } from '../../src/control/process-link.ts';
import { type SpawnAgentOptions, spawnAgent } from '../../src/control/spawn-agent.ts';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { collect } from '../support/collect.ts';

const AGENT = fileURLToPath(new URL('../support/fixtures/agent.mjs', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Starts the fixture agent with the given behaviour; it is gone when the test is. */
function start(behaviour: string[], options: Partial<SpawnAgentOptions> = {}): ProcessLink {
  const request = { command: process.execPath, args: [AGENT, ...behaviour], cwd: undefined, env: {} };
  const link = spawnAgent(request, { maxLineLength: 100_000, graceMs: 5_000, ...options });
  onTestFinished(() => link.close());
  return link;
}

async function first(link: ProcessLink): Promise<Frame> {
  return (await link.frames.next()).value as Frame;
}

test('R52 what is said comes back, in order, and the end of the input ends it', async () => {
  const link = start(['echo']);
  for (let n = 0; n < 64; n++) void link.send({ n });
  link.end();
  expect(await collect(link.frames)).toEqual(Array.from({ length: 64 }, (_, n) => ({ n })));
});

test('C32 it gets just the arguments, the directory and the environment it was given', async () => {
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

test('noise on stdout is skipped and told', async () => {
  const noise: string[] = [];
  const link = start(['noise'], { onNoise: (line) => noise.push(line) });
  expect(await collect(link.frames)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(noise).toEqual(['Debugger attached.', '{"half":', '[1,2]']);
});

test('frames in pieces, and a last one without a newline', async () => {
  expect(await collect(start(['pieces']).frames)).toEqual([{ text: 'é😀\u2028' }, { last: true }]);
});

test('a death is told with its code and its last words, secrets masked, after what it said', async () => {
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

test('one that dies before it reads is told with its words, by every sending too', async () => {
  const link = start(['refuse']);
  const death = { message: 'Claude Code process exited with code 1. stderr: unknown flag' };
  await expect(collect(link.frames)).rejects.toMatchObject(death);
  await expect(link.send({ n: 1 })).rejects.toMatchObject(death);
});

test('one that ignores the end of its input ends with SIGTERM', async () => {
  const link = start(['deaf'], { graceMs: 50 });
  expect(await first(link)).toEqual({ type: 'ready' });
  await link.close();
  expect(await collect(link.frames)).toEqual([]);
});

test('one that ignores SIGTERM too ends with SIGKILL', async () => {
  const link = start(['stubborn'], { graceMs: 50 });
  expect(await first(link)).toEqual({ type: 'ready' });
  await link.close();
  expect(await collect(link.frames)).toEqual([{ type: 'SIGTERM ignored' }]);
});

test('a line that is too long fails the link and ends the process', async () => {
  const link = start(['long', '200000'], { graceMs: 50 });
  await expect(collect(link.frames)).rejects.toMatchObject({
    code: 'line-too-long',
    message: expect.stringMatching(/^The agent sent a line of \d+ characters; maxLineLength is 100000$/),
  });
  await link.close();
});

test('a line of 20 MB passes both ways, and sending waits for room', async () => {
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

test('an agent that closes its input but lives on takes no more', async () => {
  const link = start(['shut'], { graceMs: 50 });
  expect(await first(link)).toEqual({ type: 'ready' });
  await expect(link.send({ text: 'x'.repeat(1024 * 1024) })).rejects.toThrow(/EPIPE|closed/);
});

test('a child it leaves behind that holds stdout is not waited for', async () => {
  const link = start(['orphan']);
  const frames = await collect(link.frames);
  expect(frames).toEqual([{ pid: expect.any(Number) }]);
  process.kill(Number(frames[0]?.pid));
});

test('a missing program and a missing directory are told apart', async () => {
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
      message: 'The agent cannot be started: cwd /no/such/dir does not exist',
    }),
  );
});

test('what node refuses before it starts anything is told as such', () => {
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

test('a spawner of one’s own gets the request, and a signal that aborts only when gentleness did not help', async () => {
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
