import { describe, expect, test } from 'vitest';
import {
  parseUserMessage,
  ReceivedIds,
  type SessionState,
  SessionStateTracker,
  TurnQueue,
  type UserMessage,
} from '../../../src/agent/session/turn-queue.ts';

describe('turn queue', () => {
  const line = (uuid: string, wantsTurn = true): UserMessage => ({
    content: [],
    message: {},
    isSynthetic: false,
    uuid,
    wantsTurn,
  });

  /** A queue whose turns last until they are aborted or told to end. */
  function queue() {
    const log: string[] = [];
    let end = () => {};
    const turns = new TurnQueue(
      async ({ uuid }, { signal }) => {
        log.push(`${uuid} began`);
        await new Promise<void>((resolve) => {
          end = resolve;
          signal.addEventListener('abort', () => resolve());
        });
        log.push(`${uuid} ${signal.aborted ? 'aborted' : 'ended'}`);
      },
      new SessionStateTracker((state) => log.push(state)),
    );
    return { turns, log, end: () => end() };
  }

  test('handles messages in order and reports each state once', async () => {
    const { turns, log, end } = queue();
    turns.push(line('a'));
    turns.push(line('b', false));
    end();
    await Promise.resolve();
    const done = turns.done();
    while (!log.includes('b began')) await Promise.resolve();
    end();
    await done;
    expect(log).toEqual(['running', 'a began', 'a ended', 'b began', 'b ended', 'idle']);
  });

  test('notices start a turn only if there are any, after the messages of users', async () => {
    const log: string[] = [];
    const batch = {
      notices: [{ text: 'news', origin: { kind: 'channel' as const, server: 's' } }],
      channelMessages: [],
      stored() {},
      dropped() {},
    };
    let waiting = 0;
    const turns = new TurnQueue(
      async ({ uuid, notices }) => void log.push(uuid ?? `notices ${notices?.notices.length}`),
      new SessionStateTracker(() => {}),
      () => (waiting-- > 0 ? batch : undefined),
    );
    turns.notify();
    waiting = 1;
    turns.push(line('a'));
    await turns.done();
    waiting = 1;
    turns.notify();
    await turns.done();
    expect(log).toEqual(['a', 'notices 1', 'notices 1']);
  });

  test('a message without a turn does not change the state', async () => {
    const { turns, log, end } = queue();
    turns.push(line('a', false));
    end();
    await turns.done();
    expect(log).toEqual(['a began', 'a ended']);
  });

  test('interrupt() ends the running turn, end() drops the queued ones', async () => {
    const { turns, log } = queue();
    for (const it of ['a', 'b', 'c']) turns.push(line(it));
    expect(turns.interrupt()).toEqual(['b', 'c']);
    while (!log.includes('b began')) await Promise.resolve();
    turns.end();
    turns.push(line('d'));
    await turns.done();
    expect(log).toEqual(['running', 'a began', 'a aborted', 'b began', 'b aborted', 'idle']);
    expect(turns.interrupt()).toEqual([]);
  });
});

describe('parseUserMessage', () => {
  const line = (content: unknown, more: object = {}) => ({
    type: 'user',
    message: { role: 'user', content },
    ...more,
  });
  const hi = { type: 'text', text: 'hi' };
  const image = { type: 'image', source: { type: 'base64' } };

  test.each([
    ['a text', line('hi'), [hi]],
    ['blocks', line([hi, image]), [hi, image]],
    [
      'blocks that are none beside good ones',
      line([null, hi, 7, { type: 'tool_use' }, { type: 'image' }]),
      [hi],
    ],
    ['a blank text', line(' \n'), [{ type: 'text', text: '(no content)' }]],
    ['no message', { type: 'user', message: 'hi' }, []],
  ])('%s', (_, frame, content) => {
    expect(parseUserMessage(frame)).toEqual({
      content,
      message: frame.message,
      isSynthetic: false,
      uuid: undefined,
      wantsTurn: true,
    });
  });

  test('parses the id and whether the message starts a turn', () => {
    expect(parseUserMessage(line('hi', { uuid: 'u', shouldQuery: false }))).toEqual({
      content: [hi],
      message: { role: 'user', content: 'hi' },
      isSynthetic: false,
      uuid: 'u',
      wantsTurn: false,
    });
    expect(parseUserMessage(line('hi', { uuid: 7, shouldQuery: 'no' }))).toMatchObject({
      uuid: undefined,
      wantsTurn: true,
    });
  });

  test.each([{}, { type: 'assistant', message: { content: 'hi' } }, { type: 7 }])(
    '%j is not a user message',
    (frame) => {
      expect(parseUserMessage(frame)).toBeUndefined();
    },
  );
});

test('ReceivedIds recognizes repeated ids, and remembers the latest ones', () => {
  const received = new ReceivedIds();
  expect([received.isNew('a'), received.isNew('a')]).toEqual([true, false]);
  expect([received.isNew(undefined), received.isNew(undefined)]).toEqual([true, true]);
  for (let n = 0; n < 999; n++) received.isNew(`id ${n}`);
  expect(received.isNew('a')).toBe(false);
  received.isNew('one more');
  expect(received.isNew('a')).toBe(true);
});

describe('SessionStateTracker', () => {
  function teller() {
    const told: SessionState[] = [];
    return { told, state: new SessionStateTracker((it) => told.push(it)) };
  }

  test('reports every change once', () => {
    const { state, told } = teller();
    for (const it of ['idle', 'running', 'running', 'idle', 'idle'] as const) state.enter(it);
    expect(told).toEqual(['running', 'idle']);
  });

  test('concurrent waits are one requires_action state, which ends with the last one', async () => {
    const { state, told } = teller();
    state.enter('running');
    const one = Promise.withResolvers<number>();
    const two = Promise.withResolvers<number>();
    const waits = [state.whileWaiting(one.promise), state.whileWaiting(two.promise)];
    one.resolve(1);
    expect(await waits[0]).toBe(1);
    expect(state.state).toBe('requires_action');
    two.reject(new Error('gone'));
    await expect(waits[1]).rejects.toThrow('gone');
    expect(told).toEqual(['running', 'requires_action', 'running']);
  });

  test('waiting outside a turn does not change the state', async () => {
    const { state, told } = teller();
    await state.whileWaiting(Promise.resolve());
    state.enter('running');
    const late = Promise.withResolvers<void>();
    const waiting = state.whileWaiting(late.promise);
    state.enter('idle');
    late.resolve();
    await waiting;
    expect(told).toEqual(['running', 'requires_action', 'idle']);
  });
});
