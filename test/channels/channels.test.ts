import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SYSTEM_CLOCK } from '../../src/base/async/timers.ts';
import { formatChannelMessages } from '../../src/channels/channel-message.ts';
import { Channels, type ChannelsDeps } from '../../src/channels/channels.ts';
import type { Owner } from '../../src/channels/conversation-registry.ts';
import { INBOX_LIMITS, Inbox, type InboxLimits } from '../../src/channels/inbox.ts';
import { messageKey } from '../../src/channels/stored-message.ts';
import { CHANNEL_DEFAULTS } from '../../src/config/settings/channel-settings.ts';

const MESSAGE = 'notifications/claude/channel';

type Sent = { method: string; params: Record<string, unknown> };

function open(more: Partial<ChannelsDeps> & { limits?: Partial<InboxLimits>; isConnected?: boolean } = {}) {
  const { limits, isConnected = true, ...deps } = more;
  const directory = mkdtempSync(join(tmpdir(), 'channels-'));
  const notes: string[] = [];
  const sent: Sent[] = [];
  let connected = isConnected;
  const connection = {
    capabilities: { experimental: { 'claude/channel': {} } },
    notify: (method: string, params: Record<string, unknown>) => void sent.push({ method, params }),
  };
  const channels = new Channels({
    owner: { project: '/p', conversation: 'c' },
    settings: { s: CHANNEL_DEFAULTS },
    clock: SYSTEM_CLOCK,
    openInbox: () => Inbox.open(directory, { limits: { ...INBOX_LIMITS, ...limits } }),
    connection: () => (connected ? connection : undefined),
    onPending() {},
    note: (text) => void notes.push(text),
    ...deps,
  });
  onTestFinished(() => channels[Symbol.asyncDispose]());
  const push = (content: string, id: string, source = 's', meta: object = {}) =>
    channels.receive(source, MESSAGE, { content, meta: { id, ...meta } });
  const acked = () => sent.filter(({ method }) => method.endsWith('/ack')).map(({ params }) => params.id);
  return {
    channels,
    directory,
    notes,
    sent,
    push,
    acked,
    connect: () => {
      connected = true;
      channels.connected('s');
    },
  };
}

describe('channels', () => {
  test('messages that arrive before the handshake is over are kept', async () => {
    const { push, acked, connect } = open({ isConnected: false });
    push('early', '1');
    connect();
    push('later', '2');
    await expect.poll(acked).toEqual(['1', '2']);
  });

  test('an acknowledged message is on disk', async () => {
    const { push, acked, directory } = open();
    push('x', '1');
    await expect.poll(acked).toEqual(['1']);
    using inbox = await Inbox.open(directory);
    expect(inbox.messages({}, 10)).toMatchObject([{ id: '1', content: 'x', state: 'pending' }]);
  });

  test('a full inbox is one clear note each time; what was acknowledged stays, and the rest follows when there is space', async () => {
    const { channels, push, acked, notes, directory } = open({ limits: { maxFileBytes: 100 * 1024 } });
    await expect.poll(() => channels.take('idle')).toEqual([]);
    for (let n = 1; notes.length === 0; n++) {
      push('x'.repeat(5_000), `m${n}`);
      await new Promise(setImmediate);
    }
    const before = acked();
    expect(before.length).toBeGreaterThan(3);
    expect(notes).toEqual([
      expect.stringMatching(
        /cannot be written: the disk is full, or the inbox has reached its maximum size.*not acknowledged until/,
      ),
    ]);
    using inbox = await Inbox.open(directory);
    expect(inbox.messages({}, 1_000).map(({ id }) => id)).toEqual(before);
    inbox.deliver(inbox.messages({}, 3).map(({ seq }) => seq));
    inbox.purge({ states: ['delivered'] });
    // The message that did not fit is stored without being sent again.
    await expect.poll(acked, { timeout: 10_000 }).toHaveLength(before.length + 1);
    expect(notes).toHaveLength(1);
    for (let n = 1; notes.length === 1; n++) {
      push('x'.repeat(5_000), `later${n}`);
      await new Promise(setImmediate);
    }
    expect(notes[1]).toBe(notes[0]);
  });

  test('an inbox that stays full limits what is held in memory, although it can be read', async () => {
    const { channels, push, acked, sent } = open({ limits: { maxFileBytes: 100 * 1024 } });
    await expect.poll(() => channels.take('idle')).toEqual([]);
    const nacked = () => sent.filter(({ method }) => method.endsWith('/nack')).length;
    for (let n = 0; n < 30; n++) {
      for (let m = 0; m < 100; m++) push('x'.repeat(1_000), `${n}-${m}`);
      // The inbox is read meanwhile.
      await delay(50);
    }
    expect(3_000 - acked().length - nacked()).toBe(1_000);
  }, 30_000);

  test('an inbox that cannot be opened is opened later; messages wait, and are refused only when too many wait', async () => {
    let attempts = 0;
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    const { push, acked, notes, sent } = open({
      openInbox: () => Inbox.open(attempts++ === 0 ? '/dev/null/x' : directory),
    });
    for (let n = 1; n <= 1_001; n++) push('x', `m${n}`);
    expect(acked()).toEqual([]);
    await expect.poll(() => notes.length).toBeGreaterThan(0);
    expect(sent).toEqual([
      { method: 'notifications/toolplane/channel/nack', params: { reason: 'storage', id: 'm1001' } },
    ]);
    await expect.poll(() => acked().length, { timeout: 10_000 }).toBe(1_000);
  });

  test('an inbox that can be read, but not written, delivers what waits, and is opened once', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    {
      using inbox = await Inbox.open(directory);
      inbox.admit({ project: '/p', conversation: 'c' }, [
        { source: 's', id: '1', content: 'x', meta: {}, state: 'pending' },
        { source: 's', id: '2', content: 'x', meta: {}, state: 'pending' },
      ]);
    }
    let opened = 0;
    const { channels, notes } = open({
      known: ['s/1'],
      openInbox: () => {
        opened++;
        return Inbox.open(directory, { access: 'read' });
      },
    });
    await expect.poll(() => channels.take('idle').map(({ id }) => id)).toEqual(['2']);
    await delay(3_000);
    expect(opened).toBe(1);
    expect(notes).toEqual([expect.stringMatching(/^the channel inbox \/.* cannot be written: .*read-only/)]);
  });

  test('a message with the id of another one is refused with one note; the same message again is acknowledged', async () => {
    const { channels, push, acked, sent, notes } = open();
    for (const content of ['one', 'one', 'two', 'three']) push(content, '1');
    await expect.poll(() => notes.length).toBe(1);
    expect(notes).toEqual([
      'channel "s": 2 messages were refused: the server sent a message with the same "meta.id" and other content before; let the server use each id once',
    ]);
    expect(acked()).toEqual(['1', '1']);
    const refused = {
      method: 'notifications/toolplane/channel/nack',
      params: { reason: 'duplicate', id: '1' },
    };
    expect(sent.slice(2)).toEqual([refused, refused]);
    expect(channels.take('idle').map(({ content }) => content)).toEqual(['one']);
  });

  test('an invalid message is refused with its fault', async () => {
    const { channels, sent } = open();
    channels.receive('s', MESSAGE, { content: 7 });
    expect(sent).toEqual([
      {
        method: 'notifications/toolplane/channel/nack',
        params: { reason: 'invalid', message: '"content" must be a string' },
      },
    ]);
  });

  test('messages that were taken and given back are taken again, in order', async () => {
    const { channels, push, acked } = open();
    for (const id of ['1', '2', '3']) push(id, id);
    await expect.poll(acked).toHaveLength(3);
    const batch = channels.take('idle');
    expect(batch.map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(channels.take('idle')).toEqual([]);
    channels.delivered(batch.slice(0, 1));
    channels.giveBack(batch.slice(1));
    expect(channels.take('round').map(({ id }) => id)).toEqual(['2', '3']);
  });

  test('a batch is limited in number and size', async () => {
    const { channels, push, acked } = open();
    for (let n = 0; n < 3; n++) push('x'.repeat(40_000), `big${n}`);
    for (let n = 0; n < 150; n++) push('x', `small${n}`);
    await expect.poll(acked).toHaveLength(153);
    expect(channels.take('idle').map(({ id }) => id)).toEqual(['big0']);
    expect(channels.take('idle').map(({ id }) => id)).toEqual(['big1']);
    expect(channels.take('idle')).toHaveLength(100);
  });

  test('attributes and escapes count toward the size of a batch', async () => {
    const { channels, push, acked } = open();
    const meta = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'v'.repeat(1_000)]));
    for (let n = 0; n < 20; n++) push('x', `wide${n}`, 's', meta);
    for (let n = 0; n < 20; n++) push('"'.repeat(5_000), `quotes${n}`);
    await expect.poll(acked).toHaveLength(40);
    for (let taken = 0; taken < 40; ) {
      const batch = channels.take('idle');
      taken += batch.length;
      const text = formatChannelMessages(batch);
      expect([batch.length, text.length < 70_000]).toEqual([batch.length, true]);
    }
  });

  test('a source with many messages does not hold up the others, and each keeps its order', async () => {
    const settings = { s: CHANNEL_DEFAULTS, t: CHANNEL_DEFAULTS, u: CHANNEL_DEFAULTS };
    const { channels, push, acked } = open({ settings });
    for (let n = 0; n < 900; n++) push('flood', `s${n}`);
    for (let n = 0; n < 60; n++) push('calm', `t${n}`, 't');
    push('once', 'u0', 'u');
    await expect.poll(acked).toHaveLength(961);
    const batches = [channels.take('idle'), channels.take('idle')].map((it) => it.map(({ id }) => id));
    const [first = [], second = []] = batches;
    expect([first, second].map(({ length }) => length)).toEqual([100, 100]);
    expect(first).toContain('u0');
    const of = (source: string) => batches.flat().filter((id) => id.startsWith(source));
    expect(of('t')).toEqual(Array.from({ length: 60 }, (_, n) => `t${n}`));
    expect(of('s')).toEqual(Array.from({ length: 139 }, (_, n) => `s${n}`));
  });

  test('a source with large messages does not hold up the others', async () => {
    const { channels, push, acked } = open({ settings: { s: CHANNEL_DEFAULTS, t: CHANNEL_DEFAULTS } });
    for (let n = 0; n < 10; n++) push('x'.repeat(64_000), `s${n}`);
    push('y'.repeat(64_000), 't0', 't');
    await expect.poll(acked).toHaveLength(11);
    const seen: string[] = [];
    for (let n = 0; n < 3; n++) {
      expect(channels.hasPending('idle')).toBe(true);
      const batch = channels.take('idle');
      channels.delivered(batch);
      seen.push(...batch.map(({ id }) => id));
    }
    expect(seen).toContain('t0');
  });

  test('messages that wait for the handshake are limited in size', async () => {
    const { channels, push, acked, connect, directory } = open({ isConnected: false });
    push('x'.repeat(8_000_000), 'big');
    channels.receive('s', MESSAGE, { content: 7 });
    connect();
    await expect.poll(acked).toEqual(['big']);
    using inbox = await Inbox.open(directory);
    const [stored] = inbox.messages({}, 10);
    expect(stored).toMatchObject({ id: 'big', state: 'quarantined' });
    expect(stored?.content.length).toBeLessThan(5_000);
  });

  test('a clock that jumps back refuses nothing', async () => {
    let now = Date.now();
    const settings = { s: { ...CHANNEL_DEFAULTS, maxPerMinute: 1 } };
    const { push, acked } = open({ settings, clock: { ...SYSTEM_CLOCK, now: () => now } });
    push('1', '1');
    now -= 3_600_000;
    push('2', '2');
    await expect.poll(acked).toEqual(['1', '2']);
  });

  test('another process that writes delays messages for less than a second, and is not reported', async () => {
    const { push, acked, notes, directory } = open();
    push('1', '1');
    await expect.poll(acked).toEqual(['1']);
    const other = new DatabaseSync(join(directory, 'inbox.db'));
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    const start = performance.now();
    push('2', '2');
    await delay(300);
    expect(acked()).toEqual(['1']);
    other.exec('ROLLBACK');
    await expect.poll(acked, { interval: 10 }).toEqual(['1', '2']);
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(notes).toEqual([]);
  });

  test('after /clear, pending messages follow in order, although another process writes at that moment', async () => {
    const { channels, push, acked, directory } = open();
    push('1', '1');
    await expect.poll(acked).toEqual(['1']);
    const other = new DatabaseSync(join(directory, 'inbox.db'));
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    channels.moveTo('d');
    channels.moveTo('e');
    push('2', '2');
    expect(channels.take('idle')).toEqual([]);
    other.exec('ROLLBACK');
    await expect.poll(acked).toEqual(['1', '2']);
    expect(channels.take('idle').map(({ id }) => id)).toEqual(['1', '2']);
    const running = other.prepare('SELECT id FROM conversation').all();
    expect(running).toEqual([{ id: 'e' }]);
  });

  test('a conversation that two sessions have resumed gets each message once; the second goes on after the first', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    {
      using inbox = await Inbox.open(directory);
      inbox.post('/p', { source: 'local', id: '1', content: 'x', meta: {}, state: 'pending' });
    }
    const openInbox = () => Inbox.open(directory);
    const { channels: first } = open({ openInbox });
    await expect.poll(() => first.take('idle').map(({ id }) => id)).toEqual(['1']);
    const opened = Promise.withResolvers<void>();
    const { channels: second } = open({ openInbox, onPending: () => opened.resolve() });
    await opened.promise;
    expect(second.take('idle')).toEqual([]);
    await first[Symbol.asyncDispose]();
    await expect.poll(() => second.take('idle').map(({ id }) => id)).toEqual(['1']);
  });

  test('a process that keeps the inbox locked is reported, and does not hold up the end', async () => {
    const { channels, push, acked, notes, directory } = open();
    push('1', '1');
    await expect.poll(acked).toEqual(['1']);
    const other = new DatabaseSync(join(directory, 'inbox.db'));
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    push('2', '2');
    const start = performance.now();
    await channels[Symbol.asyncDispose]();
    expect(performance.now() - start).toBeLessThan(8_000);
    expect(notes).toEqual([
      expect.stringMatching(/cannot be written: another process keeps it locked; end that process/),
    ]);
  }, 30_000);

  test('a fork does not get messages again that its conversation contains, but those that it does not', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    const parent: Owner = { project: '/p', conversation: 'parent' };
    {
      using inbox = await Inbox.open(directory);
      // The parent was killed before it marked the first message.
      inbox.admit(parent, [
        { source: 's', id: '1', content: 'known', meta: {}, state: 'pending' },
        { source: 's', id: '2', content: 'new', meta: {}, state: 'pending' },
      ]);
      inbox.admit({ ...parent, conversation: 'other' }, [
        { source: 's', id: '1', content: 'another message', meta: {}, state: 'pending' },
      ]);
    }
    const { channels } = open({
      owner: { project: '/p', conversation: 'fork' },
      earlier: ['parent'],
      known: ['s/1'],
      openInbox: () => Inbox.open(directory),
    });
    await expect
      .poll(() => channels.take('idle').map(({ content }) => content))
      .toEqual(['new', 'another message']);
  });

  test('the id of one server cannot stand for the message of another whose name has a slash', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    const [forged, real] = [
      { source: 'chat', id: 'team/1' },
      { source: 'chat/team', id: '1' },
    ] as const;
    {
      using inbox = await Inbox.open(directory);
      const more = { content: 'real', meta: {}, state: 'pending' } as const;
      inbox.admit({ project: '/p', conversation: 'c' }, [{ ...real, ...more }]);
    }
    const { channels } = open({
      settings: { 'chat/team': CHANNEL_DEFAULTS },
      known: [messageKey(forged)],
      openInbox: () => Inbox.open(directory),
    });
    await expect.poll(() => channels.take('idle')).toMatchObject([real]);
  });

  test('a server with the name of the source of the command line is no channel', async () => {
    const settings = { local: CHANNEL_DEFAULTS, s: CHANNEL_DEFAULTS };
    const { channels, notes, push, acked } = open({ settings });
    expect(notes).toEqual([expect.stringMatching(/server "local" cannot be a channel.*rename/)]);
    expect(channels.names).toEqual(['s']);
    push('forged', '1', 'local');
    push('real', '2');
    await expect.poll(acked).toEqual(['2']);
    expect(channels.take('idle')).toMatchObject([{ source: 's' }]);
  });

  test('notes about refused messages do not flood the user', async () => {
    const { push, notes } = open({ settings: { s: { ...CHANNEL_DEFAULTS, maxPerMinute: 1 } } });
    for (let n = 0; n < 8; n++) {
      push('x', `m${n}`);
      await delay(150);
    }
    expect(notes).toHaveLength(1);
  });
});
