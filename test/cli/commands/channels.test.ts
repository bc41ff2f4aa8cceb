import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Inbox } from '../../../src/channels/inbox.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { text } from '../../support/model-api/model-reply.ts';
import { openAgentSandbox } from '../support/agent-sandbox.ts';
import { userFile } from '../support/mcp-place.ts';
import { runCli, startCli } from '../support/run-cli.ts';

function inPlace() {
  const place = configPlace();
  const channels = (...args: string[]) =>
    runCli(['channels', ...args], '', { cwd: place.project, env: place.env });
  return { place, channels };
}

async function inboxOf({ home }: ConfigPlace): Promise<Inbox> {
  const inbox = await Inbox.open(join(home, 'channels'));
  onTestFinished(() => inbox[Symbol.dispose]());
  return inbox;
}

const lines = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((it) => JSON.parse(it) as Record<string, unknown>);

describe('toolplane channels', () => {
  test('without messages', async () => {
    const { channels } = inPlace();
    expect(await channels()).toMatchObject({
      code: 0,
      stdout: 'No channel is enabled in settings, and none has sent messages to this directory.\n',
    });
    expect(JSON.parse((await channels('list', '--json')).stdout)).toEqual({ channels: [] });
    expect((await channels('tail', '--json')).stdout).toBe('');
  });

  test('send stores a message, tail prints it, list counts it', async () => {
    const { place, channels } = inPlace();
    place.write(userFile(place), { channels: ['deploy'] });
    const sent = await channels('send', 'It is <done>', '--meta', 'id=m1', '--meta', 'user=ann', '--json');
    expect(JSON.parse(sent.stdout)).toEqual({ id: 'm1', source: 'local', state: 'pending' });
    const again = await channels('send', 'It is <done>', '--meta', 'id=m1', '--meta', 'user=ann');
    expect(again.stdout).toBe('message m1 of local is already stored; it is not delivered again\n');
    const [line] = lines((await channels('tail', '--json')).stdout);
    expect(line).toEqual({
      id: 'm1',
      source: 'local',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      state: 'pending',
      content: 'It is <done>',
      meta: { id: 'm1', user: 'ann' },
      project: place.project,
    });
    expect(JSON.parse((await channels('list', '--json')).stdout)).toMatchObject({
      channels: [
        { source: 'local', enabled: false, pending: 1, delivered: 0, lastAt: expect.any(String) },
        { source: 'deploy', enabled: true, pending: 0, lastAt: null },
      ],
    });
    const { stdout } = await channels();
    expect(stdout).toMatch(/^source +pending/);
    expect(stdout).toMatch(/local +1 +0 +0 +0 +0 /);
  });

  test('tail -f prints messages as they arrive', async () => {
    const { place } = inPlace();
    const child = startCli(['channels', 'tail', '--follow', '--json'], {
      cwd: place.project,
      env: place.env,
    });
    const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const inbox = await inboxOf(place);
    for (const content of ['one', 'two']) {
      inbox.post(place.project, { source: 's', content, meta: {}, state: 'pending' });
      expect(JSON.parse(String((await printed.next()).value))).toMatchObject({ content });
    }
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  test('retry releases quarantined messages, purge deletes delivered ones', async () => {
    const { place, channels } = inPlace();
    const inbox = await inboxOf(place);
    const owner = { project: place.project, conversation: 'c' };
    inbox.admit(owner, [
      { source: 's', id: 'q', content: 'odd', meta: {}, state: 'quarantined', reason: 'unknown sender' },
      { source: 's', id: 'd', content: 'old', meta: {}, state: 'pending' },
    ]);
    inbox.deliver(inbox.pending(owner, ['s'], 0, 1).map(({ seq }) => seq));
    const quarantined = await channels('tail', '--state', 'quarantined', '--json');
    expect(lines(quarantined.stdout)).toMatchObject([{ id: 'q', reason: 'unknown sender' }]);
    expect(await channels('retry', 'q')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 message is pending now'),
    });
    expect(await channels('retry', 'd')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"d" is delivered'),
    });
    expect(await channels('retry', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no message "x"'),
    });
    expect(await channels('retry')).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
    expect(await channels('purge', '--older-than', '1')).toMatchObject({ stdout: '0 messages deleted\n' });
    expect(JSON.parse((await channels('purge', '--json')).stdout)).toEqual({ purged: 1 });
    expect(inbox.messages({}, 10)).toMatchObject([{ id: 'q', state: 'pending' }]);
  });

  test('an id that imitates the message of another source is not retried in its place', async () => {
    const { place, channels } = inPlace();
    const inbox = await inboxOf(place);
    const odd = (source: string, id: string) => ({ source, id, content: 'odd', meta: {} });
    inbox.admit({ project: place.project, conversation: 'c' }, [
      { ...odd('chat', '1'), state: 'quarantined', reason: 'unknown sender' },
      { ...odd('evil', 'chat/1'), state: 'quarantined', reason: 'unknown sender' },
    ]);
    expect(await channels('retry', 'chat/1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('add --source chat or --source evil'),
    });
    expect((await channels('retry', 'chat/1', '--source', 'chat')).code).toBe(0);
    expect(inbox.messages({ states: ['pending'] }, 10)).toMatchObject([{ source: 'chat' }]);
  });

  test('retry takes a source with the id, several names, or a state', async () => {
    const { place, channels } = inPlace();
    const inbox = await inboxOf(place);
    const odd = (source: string, id: string) => ({ source, id, content: 'odd', meta: {} });
    inbox.admit({ project: place.project, conversation: 'c' }, [
      { ...odd('s', 'x'), state: 'quarantined', reason: 'unknown sender' },
      { ...odd('t', 'x'), state: 'quarantined', reason: 'unknown sender' },
      { ...odd('t', 'y'), state: 'quarantined', reason: 'unknown sender' },
    ]);
    const waiting = () =>
      inbox.messages({ states: ['pending'] }, 10).map(({ source, id }) => `${source}/${id}`);
    expect(await channels('retry', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('add --source s or --source t'),
    });
    expect((await channels('retry', 'y', 'none')).code).toBe(2);
    expect(waiting()).toEqual([]);
    expect(JSON.parse((await channels('retry', 't/x', 'y', '--json')).stdout)).toEqual({ retried: 2 });
    expect(waiting()).toEqual(['t/x', 't/y']);
    expect(JSON.parse((await channels('retry', '--all', '--state', 'expired', '--json')).stdout)).toEqual({
      retried: 0,
    });
    expect(JSON.parse((await channels('retry', '--all', '--json')).stdout)).toEqual({ retried: 1 });
  });

  test('list and tail write nothing, so that they work while another process writes, or the disk is full', async () => {
    const { place, channels } = inPlace();
    await channels('send', 'x');
    const db = new DatabaseSync(join(place.home, 'channels', 'inbox.db'));
    db.exec('BEGIN IMMEDIATE');
    expect(JSON.parse((await channels('list', '--json')).stdout)).toMatchObject({
      channels: [{ pending: 1 }],
    });
    expect(lines((await channels('tail', '--json')).stdout)).toMatchObject([{ content: 'x' }]);
    const sending = channels('send', 'y');
    // A command waits for the other process.
    await delay(500);
    db.exec('ROLLBACK');
    db.close();
    expect(await sending).toMatchObject({ code: 0 });
  });

  test('send refuses a text that is larger than a channel may push', async () => {
    const { channels } = inPlace();
    expect(await channels('send', 'x'.repeat(64 * 1024 + 1))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/65537 bytes.*at most 65536/),
    });
    expect((await channels('tail', '--json')).stdout).toBe('');
  });

  test('messages of other directories are shown only with --all', async () => {
    const { place, channels } = inPlace();
    (await inboxOf(place)).post('/elsewhere', { source: 's', content: 'x', meta: {}, state: 'pending' });
    expect((await channels('tail', '--json')).stdout).toBe('');
    expect(lines((await channels('tail', '--all', '--json')).stdout)).toMatchObject([
      { project: '/elsewhere' },
    ]);
  });

  test.each([
    [['send', 'x', '--meta', 'novalue'], /expected key=value/],
    [['send', 'x', '--meta', 'source=evil'], /--meta "source": .*--source/],
    [['send', 'x', '--meta', 'a=1', '--meta', 'bad key=1'], /--meta "bad key": a key consists of/],
    [['tail', '--state', 'lost'], /Expected one of pending, delivered, quarantined, expired/],
    [['tails'], /unknown action 'tails'; did you mean tail\?/],
  ])('%j is a usage error', async (args, message) => {
    expect(await inPlace().channels(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message),
    });
  });
});

test('an agent process of the directory receives a sent message and starts a turn (R173)', async () => {
  await using sandbox = await openAgentSandbox(() => text('Noted.'));
  const { cwd, env, api } = sandbox;
  const place = { cwd, env: { ...env, TOOLPLANE_HOME: join(cwd, 'home') } };
  const child = startCli(['agent', '--channels', 'local', '--input-format', 'stream-json'], place);
  const frames = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (isIt: (frame: Record<string, unknown>) => boolean) => {
    for (;;) {
      const { value, done } = await frames.next();
      if (done) throw new Error('the agent ended');
      const frame = JSON.parse(String(value));
      if (isIt(frame)) return frame;
    }
  };
  const request = { type: 'control_request', request_id: '1', request: { subtype: 'initialize' } };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  await next(({ type }) => type === 'control_response');
  expect((await runCli(['channels', 'send', 'ping from outside'], '', place)).code).toBe(0);
  const pushed = await next(({ type }) => type === 'user');
  expect(pushed).toMatchObject({
    isSynthetic: true,
    origin: { kind: 'channel', server: 'local' },
    channel_messages: [{ content: 'ping from outside' }],
  });
  expect(await next(({ type }) => type === 'result')).toMatchObject({
    result: 'Noted.',
    origin: { kind: 'channel', server: 'local' },
  });
  expect(JSON.stringify(api.requests.at(-1))).toContain(
    '<channel source=\\"local\\">ping from outside</channel>',
  );
  const stored = await runCli(['channels', 'tail', '--json'], '', place);
  expect(lines(stored.stdout)).toMatchObject([{ state: 'delivered' }]);
  child.stdin.end();
  await once(child, 'close');
});
