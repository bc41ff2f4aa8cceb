// The older protocol: a request for each resource. What holds for both is in modern.test.ts too.
import { expect, test } from 'vitest';
import { createHost, type Host } from '../../../src/entry/host.ts';
import { until } from '../contract/until.ts';
import { Heard } from './heard.ts';
import { askedOf, odd, pidOf, release, tell } from './odd.ts';

const NOTES = {
  capabilities: { resources: { subscribe: true } },
  answers: { 'resources/subscribe': {}, 'resources/unsubscribe': {} },
};
const updated = (host: Host, uri: string) => tell(host, 'notifications/resources/updated', { uri });

test('listeners of one resource share one subscription, and the last to leave ends it', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const [a, b] = [new Heard(), new Heard()];
  const subscriptions = await Promise.all([
    host.subscribe('odd', 'note://1', a.listener),
    host.subscribe('odd', 'note://1', b.listener),
    host.subscribe('odd', 'note://1', a.listener),
  ]);
  expect(await askedOf(host)).toEqual(['resources/subscribe note://1']);
  await updated(host, 'note://1');
  await updated(host, 'note://2');
  expect([a.count, b.count]).toEqual([2, 1]);
  await Promise.all([subscriptions[0].unsubscribe(), subscriptions[0].unsubscribe()]);
  await subscriptions[1].unsubscribe();
  await updated(host, 'note://1');
  expect([a.count, b.count]).toEqual([3, 1]);
  expect(await askedOf(host)).toEqual(['resources/subscribe note://1']);
  await subscriptions[2].unsubscribe();
  await updated(host, 'note://1');
  expect([a.count, b.count]).toEqual([3, 1]);
  expect(await askedOf(host)).toEqual(['resources/subscribe note://1', 'resources/unsubscribe note://1']);
});

test('left and taken up again: the server is told of both, in this order', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const heard = new Heard();
  const first = await host.subscribe('odd', 'note://1', heard.listener);
  const leaving = first.unsubscribe();
  await host.subscribe('odd', 'note://1', heard.listener);
  await leaving;
  const asked = ['subscribe', 'unsubscribe', 'subscribe'].map((it) => `resources/${it} note://1`);
  expect(await askedOf(host)).toEqual(asked);
  await updated(host, 'note://1');
  expect(heard.count).toBe(1);
});

test('a killed process: all are subscribed to again on the next one, each is told once, nobody who has left', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) }, retry: { firstMs: 1 } });
  const [a, b, gone] = [new Heard(), new Heard(), new Heard()];
  await using _ = await host.subscribe('odd', 'note://1', a.listener);
  await using __ = await host.subscribe('odd', 'note://2', b.listener);
  await (await host.subscribe('odd', 'note://3', gone.listener)).unsubscribe();
  const before = await pidOf(host);
  process.kill(before, 'SIGKILL');
  await Promise.all([a.next(), b.next()]);
  expect(await pidOf(host)).not.toBe(before);
  expect(await askedOf(host)).toEqual(['resources/subscribe note://1', 'resources/subscribe note://2']);
  await updated(host, 'note://1');
  expect([a.count, b.count, gone.count]).toEqual([2, 1, 0]);
});

test('unsubscribing never fails, and a server that is turned off is not asked', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const heard = new Heard();
  const subscription = await host.subscribe('odd', 'note://1', heard.listener);
  await host.toggle('odd', false);
  await subscription.unsubscribe();
  await host.toggle('odd', true);
  expect(await askedOf(host)).toEqual([]);
  expect(heard.count).toBe(0);
  const last = await host.subscribe('odd', 'note://1', heard.listener);
  await host.close();
  await last.unsubscribe();
});

test('one that was turned off and on again has its subscriptions back', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const heard = new Heard();
  await using _ = await host.subscribe('odd', 'note://1', heard.listener);
  await host.toggle('odd', false);
  await host.toggle('odd', true);
  await heard.next();
  await updated(host, 'note://1');
  expect(heard.count).toBe(2);
});

test('who gives up before the server has confirmed hears of nothing, and the server is told', async () => {
  await using host = createHost({ mcpServers: { odd: odd({ ...NOTES, hangs: ['resources/subscribe'] }) } });
  const heard = new Heard();
  const over = new AbortController();
  const { signal } = over;
  const subscribing = host.subscribe('odd', 'note://1', heard.listener, { signal });
  await until(async () => (await askedOf(host)).length === 1, 'it is asked');
  over.abort();
  await expect(subscribing).rejects.toMatchObject({ name: 'AbortError' });
  await release(host);
  await until(async () => (await askedOf(host)).length === 2, 'it is told');
  await updated(host, 'note://1');
  expect(heard.count).toBe(0);
  expect(await askedOf(host)).toEqual(['resources/subscribe note://1', 'resources/unsubscribe note://1']);
});

test('one that hangs holds up no other, and is given up with the last who wanted it', async () => {
  const hangs = ['resources/subscribe note://bad'];
  await using host = createHost({ mcpServers: { odd: odd({ ...NOTES, hangs }) } });
  const heard = new Heard();
  const good = await host.subscribe('odd', 'note://good', heard.listener);
  const over = new AbortController();
  const { signal } = over;
  const first = host.subscribe('odd', 'note://bad', heard.listener, { timeoutMs: 50 });
  const last = host.subscribe('odd', 'note://bad', heard.listener, { signal });
  await expect(first).rejects.toMatchObject({ code: 'timeout' });
  await good.unsubscribe();
  await host.subscribe('odd', 'note://other', heard.listener);
  const before = ['subscribe note://good', 'subscribe note://bad', 'unsubscribe note://good'];
  const asked = [...before, 'subscribe note://other'].map((it) => `resources/${it}`);
  expect(await askedOf(host)).toEqual(asked);
  over.abort();
  await expect(last).rejects.toMatchObject({ name: 'AbortError' });
  await until(async () => (await askedOf(host)).length > asked.length, 'it is told');
  expect(await askedOf(host)).toEqual([...asked, 'resources/unsubscribe note://bad']);
  await updated(host, 'note://bad');
  expect(heard.count).toBe(0);
});

test('one that hangs on a new connection keeps no other from being told', async () => {
  const hangs = ['resources/subscribe note://bad'];
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const warned: string[] = [];
  using _ = host.events.on((event) => event.type === 'warning' && warned.push(event.message));
  const heard = new Heard();
  const bad = await host.subscribe('odd', 'note://bad', () => {});
  await host.subscribe('odd', 'note://good', heard.listener);
  await host.setServers({ odd: odd({ ...NOTES, hangs }) });
  await heard.next();
  await bad.unsubscribe();
  expect(await askedOf(host)).toEqual([
    ...['bad', 'good'].map((it) => `resources/subscribe note://${it}`),
    'resources/unsubscribe note://bad',
  ]);
  expect(warned).toEqual([]);
});

test('what is no address is subscribed to as it is, and ended once however often that is asked for', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const [heard, other] = [new Heard(), new Heard()];
  const subscription = await host.subscribe('odd', 'no address', heard.listener);
  await using _ = await host.subscribe('odd', '%', other.listener);
  await updated(host, 'no address');
  expect([heard.count, other.count]).toEqual([1, 0]);
  await subscription.unsubscribe();
  await subscription.unsubscribe();
  await subscription[Symbol.asyncDispose]();
  const asked = ['subscribe no address', 'subscribe %', 'unsubscribe no address'];
  expect(await askedOf(host)).toEqual(asked.map((it) => `resources/${it}`));
});

test('a server that refuses: whoever asked is told, and nothing of it is left', async () => {
  const error = { code: -32002, message: 'no such note' };
  await using host = createHost({
    mcpServers: { odd: odd({ ...NOTES, answers: { 'resources/subscribe': { error } } }) },
    retry: { firstMs: 1 },
  });
  const heard = new Heard();
  await expect(host.subscribe('odd', 'note://1', heard.listener)).rejects.toMatchObject({
    name: 'ServerFault',
    code: -32002,
  });
  await updated(host, 'note://1');
  await host.reconnect('odd');
  expect(await askedOf(host)).toEqual([]);
  expect(heard.count).toBe(0);
});

test('a server that no longer takes subscriptions after a reconnect is warned of', async () => {
  const entry = odd(NOTES);
  await using host = createHost({ mcpServers: { odd: entry } });
  const warned = Promise.withResolvers<string>();
  using _ = host.events.on((event) => {
    if (event.type === 'warning') warned.resolve(`${event.server}: ${event.message}`);
  });
  await host.subscribe('odd', 'note://1', () => {});
  await host.setServers({ odd: odd({ capabilities: { resources: {} } }) });
  expect(await warned.promise).toBe(
    'odd: note://1 is no longer subscribed to, until it is connected again: MCP server "odd": it offers no subscriptions to resources',
  );
});

test('a listener that throws harms no other', async () => {
  await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const heard = new Heard();
  await host.subscribe('odd', 'note://1', () => {
    throw new Error('not my day');
  });
  await host.subscribe('odd', 'note://1', heard.listener);
  await updated(host, 'note://1');
  expect(heard.count).toBe(1);
  expect((await warned).message).toBe('not my day');
});
