import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHost, type Host } from '../../../src/entry/host.ts';
import { hrefOf, isAffectedBy, SubscribedResources } from '../../../src/mcp/features/subscriptions.ts';
import { until } from '../contract/support/until.ts';
import { Heard } from './support/heard.ts';
import { askedOf, odd, pidOf, release, tell } from './support/odd.ts';

describe('subscriptions', () => {
  // The legacy protocol, with one request per resource. modern.test.ts tests the behaviour of both protocols too.

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

  test('unsubscribing and subscribing again are sent in this order', async () => {
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

  test('after a killed process all subscriptions are renewed, and each listener is called once', async () => {
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

  test('unsubscribing never fails, and sends nothing to a disabled server', async () => {
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

  test('a server that was disabled and enabled again has its subscriptions renewed', async () => {
    await using host = createHost({ mcpServers: { odd: odd(NOTES) } });
    const heard = new Heard();
    await using _ = await host.subscribe('odd', 'note://1', heard.listener);
    await host.toggle('odd', false);
    await host.toggle('odd', true);
    await heard.next();
    await updated(host, 'note://1');
    expect(heard.count).toBe(2);
  });

  test('an aborted subscription calls no listener and is ended on the server', async () => {
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

  test('one that hangs does not delay the others, and is aborted with its last listener', async () => {
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

  test('one that hangs on a new connection does not delay notifications of the others', async () => {
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

  test('a URI that is not a URL is used unchanged, and unsubscribed once', async () => {
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

  test('a refused subscription rejects and leaves nothing behind', async () => {
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
      'odd: the subscription to note://1 failed and is retried after the next reconnect: MCP server "odd": the server does not offer subscriptions to resources',
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
});

describe('topics', () => {
  const tick = () => new Promise<void>(queueMicrotask);

  test('what changes within one tick is heard of once, by each whom it concerns', async () => {
    const topics = new SubscribedResources();
    const [folder, file, other] = [new Heard(), new Heard(), new Heard()];
    topics.join('file:///a', folder.listener);
    topics.join('file:///a/1', file.listener);
    topics.join('file:///b', other.listener);
    for (let times = 0; times < 3; times++) {
      topics.changed('file:///a/1');
      topics.changed('file:///a/2');
    }
    await tick();
    expect([folder.count, file.count, other.count]).toEqual([1, 1, 0]);
    topics.changed('file:///a/2');
    await tick();
    expect([folder.count, file.count, other.count]).toEqual([2, 1, 0]);
  });

  test('a listener removed in the same tick is not called; a listener that causes a change is called for it', async () => {
    const topics = new SubscribedResources();
    const [gone, heard] = [new Heard(), new Heard()];
    const seat = topics.join('a:1', gone.listener);
    topics.join('a:1', () => {
      heard.listener();
      if (heard.count === 1) topics.changed('a:1');
    });
    topics.changed('a:1');
    seat.leave();
    await tick();
    await tick();
    expect([gone.count, heard.count]).toEqual([0, 2]);
  });

  test('the last listener to leave aborts the signal', () => {
    const topics = new SubscribedResources();
    const [a, b] = [topics.join('a:', () => {}), topics.join('a:', () => {})];
    expect(topics.uris()).toEqual(['a:']);
    expect(a.leave()).toBe(false);
    expect(a.signal.aborted).toBe(false);
    expect(b.leave()).toBe(true);
    expect(a.signal.aborted).toBe(true);
    expect(topics.uris()).toEqual([]);
    expect(topics.join('a:', () => {}).signal.aborted).toBe(false);
  });

  test('addresses are read once each, not once for each other', async () => {
    const topics = new SubscribedResources();
    const heard = new Heard();
    const read = vi.spyOn(URL, 'canParse');
    onTestFinished(() => read.mockRestore());
    for (let at = 0; at < 100; at++) topics.join(`file:///y/${at}`, heard.listener);
    for (let at = 0; at < 100; at++) topics.changed(`file:///y/${at * 2}`);
    await tick();
    expect(heard.count).toBe(50);
    expect(read.mock.calls.length).toBeLessThanOrEqual(200);
  });
});

describe('told of', () => {
  test.each([
    ['note://1', 'note://1', true],
    ['note://1', 'note://12', false],
    ['note://1', 'note://1/part', true],
    ['note://1/', 'note://1/part', true],
    ['note://1/part', 'note://1', false],
    ['file:///a b', 'file:///a%20b', true],
    ['http://HOST', 'http://host/', true],
    ['note://1', 'note:', false],
    ['no address', 'no address', true],
    ['no address', 'another', false],
    ['no address', 'no address/part', true],
  ])('who subscribed to %j and a change of %j: %s', (subscribed, changed, isTold) => {
    expect(isAffectedBy([hrefOf(changed)])(hrefOf(subscribed))).toBe(isTold);
  });

  test('many changes at once notify the same listeners as each change alone', () => {
    const href = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '0'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(href), href, (changed, subscribed) => {
        const within = subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
        const isTold = changed.some((it) => it === subscribed || it.startsWith(within));
        expect(isAffectedBy(changed)(subscribed)).toBe(isTold);
      }),
      { numRuns: 500 },
    );
  });
});
