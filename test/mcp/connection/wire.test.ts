import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Wire } from '../../../src/mcp/connection/wire.ts';
import { NotedTransport } from './raw-servers.ts';

const outcome = (promise: Promise<void>) =>
  promise.then(
    () => 'sent',
    (fault) => (fault as { code: unknown }).code,
  );

/** A wire whose replies are under way until they are let go. */
async function open() {
  const transport = new NotedTransport('http');
  const underWay: PromiseWithResolvers<void>[] = [];
  transport.sendsLike = () => {
    const one = Promise.withResolvers<void>();
    underWay.push(one);
    return one.promise;
  };
  const wire = new Wire(transport);
  const heard: unknown[] = [];
  wire.onmessage = (message) => heard.push('method' in message && message.method);
  await wire.start();
  const reply = (id: string | number) =>
    outcome(wire.send({ jsonrpc: '2.0', id, result: {} } as JSONRPCMessage));
  const replyTo = (count: number, from = 0) => Array.from({ length: count }, (_, n) => reply(from + n));
  return { transport, wire, underWay, heard, reply, replyTo };
}

describe('replies to a server that takes its time', () => {
  test('go out 64 at once, and each of the rest in its turn', async () => {
    const { transport, underWay, replyTo } = await open();
    const outcomes = replyTo(200);
    expect(underWay).toHaveLength(64);
    underWay[0]?.resolve();
    underWay[1]?.reject(new Error('lost'));
    await vi.waitUntil(() => underWay.length === 66);
    for (let next = 2; next < 200; next++) {
      await vi.waitUntil(() => underWay.length > next, { interval: 1 });
      underWay[next]?.resolve();
    }
    expect((await Promise.all(outcomes)).filter((it) => it === 'sent')).toHaveLength(199);
    expect(transport.sent.map(({ message }) => message.id)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  test('keep only pings from being heard, and those only while 64 are under way', async () => {
    const { transport, underWay, heard, replyTo } = await open();
    const outcomes = replyTo(63);
    transport.say({ id: 'a', method: 'ping' });
    expect(heard).toEqual(['ping']);
    outcomes.push(...replyTo(1));
    for (const method of ['ping', 'roots/list', 'sampling/createMessage']) transport.say({ id: 'b', method });
    expect(heard).toEqual(['ping', 'roots/list', 'sampling/createMessage']);
    underWay[0]?.resolve();
    await outcomes[0];
    transport.say({ id: 'c', method: 'ping' });
    expect(heard.at(-1)).toBe('ping');
  });

  test.each([
    ['ten thousand', 10_000, 'id'],
    ['those whose ids are as long as ten thousand', 10, 'x'.repeat(999_000)],
  ])('are refused beyond %s', async (_, count, id) => {
    const { underWay, reply } = await open();
    const outcomes = Array.from({ length: count }, () => reply(id));
    expect(await reply(id)).toBe('not-reading');
    underWay[0]?.resolve();
    expect(await outcomes[0]).toBe('sent');
    const room = reply(id);
    expect(await Promise.race([room, Promise.resolve('waits')])).toBe('waits');
  });

  test('do not hold up requests of our own', async () => {
    const { transport, wire, replyTo } = await open();
    void replyTo(200);
    void wire.send({ jsonrpc: '2.0', id: 'mine', method: 'tools/list' });
    expect(transport.sent.at(-1)?.message.id).toBe('mine');
  });

  test('are given up when the connection closes, if they are not under way', async () => {
    const { wire, replyTo } = await open();
    const outcomes = replyTo(66);
    await wire.close();
    expect(await Promise.all(outcomes.slice(64))).toEqual(['NOT_CONNECTED', 'NOT_CONNECTED']);
  });
});

describe('a reply that hangs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('makes room for another after 30 seconds, once', async () => {
    const { underWay, replyTo } = await open();
    const outcomes = replyTo(200);
    vi.advanceTimersByTime(29_999);
    expect(underWay).toHaveLength(64);
    vi.advanceTimersByTime(1);
    expect(underWay).toHaveLength(128);
    for (const one of underWay.slice(0, 64)) one.resolve();
    await Promise.all(outcomes.slice(0, 64));
    await new Promise(setImmediate);
    expect(underWay).toHaveLength(128);
  });
});
