import { describe, expect, test } from 'vitest';
import type { HostEvent, HostOptions } from '../../../src/entry/host.ts';
import { able } from './support/cannot.ts';
import { ENV, hostOf, journal, KEY, pair, stateOf, textOf } from './support/drive.ts';
import { startStdio } from './support/start-stdio.ts';
import { until } from './support/until.ts';

/** Short retry delays, and a health check of idle servers every 100 ms. */
const QUICK: HostOptions = { retry: { firstMs: 20, ceilingMs: 100 }, heartbeatMs: 100 };
const TRUSTED = { trust: true };

describe.concurrent.each(able('calls'))('a server over $name', (setUp) => {
  test('leaves nothing when its host is closed', async () => {
    await using both = await pair(setUp);
    const { host, far } = both;
    await host.callTool(KEY, 'echo', { text: 'here' });
    expect(await far.left()).toBeGreaterThan(0);
    await host.close();
    await until(async () => (await far.left()) === 0, 'nothing is left');
  });

  test('ends with its host though a call hangs, which is told', async () => {
    await using both = await pair(setUp);
    const { host, far } = both;
    const hung = host.callTool(KEY, 'hang', { key: 'hung' });
    hung.catch(() => {});
    await until(async () => (await journal(host)).begun.includes('hung'), 'the call began');
    await host.close();
    await expect(hung).rejects.toMatchObject({ name: expect.stringMatching(/^(HostError|AbortError)$/) });
    await until(async () => (await far.left()) === 0, 'nothing is left');
  });

  test('is connected anew when that is asked for', async () => {
    await using both = await pair(setUp);
    const { host } = both;
    const before = await journal(host);
    const lost = stateOf(host, (state) => state !== 'connected');
    const found = lost.then(() => stateOf(host, (state) => state === 'connected'));
    expect(await host.reconnect(KEY)).toMatchObject({ state: 'connected' });
    await found;
    const after = await journal(host);
    const isAnew = after.start !== before.start || after.handshakes > before.handshakes;
    expect(isAnew || setUp.name === 'sdk own').toBe(true);
  });

  test('is off until it is turned on again', async () => {
    await using both = await pair(setUp);
    const { host, far } = both;
    expect(await host.toggle(KEY, false)).toMatchObject({ state: 'disabled' });
    expect(await host.listTools()).toEqual([]);
    await expect(host.callTool(KEY, 'echo', { text: 'x' })).rejects.toMatchObject({ code: 'disabled' });
    await until(async () => (await far.left()) === 0, 'nothing is left');
    expect(await host.toggle(KEY, true)).toMatchObject({ state: 'connected' });
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'on' }))).toBe('on');
  });

  test('stays as it is when the servers are set to the same, and goes when it is not among them', async () => {
    await using both = await pair(setUp);
    const { host, far } = both;
    const before = await journal(host);
    const states: HostEvent[] = [];
    using _listening = host.events.on((event) => event.type === 'state' && states.push(event));
    expect(await host.setServers({ [KEY]: { ...far.entry } })).toEqual({
      added: [],
      removed: [],
      errors: {},
    });
    const { start, handshakes } = await journal(host);
    expect({ start, handshakes }).toEqual({ start: before.start, handshakes: before.handshakes });
    expect(states).toEqual([]);
    expect(await host.setServers({})).toEqual({ added: [], removed: [KEY], errors: {} });
    expect(host.status()).toEqual({});
    await expect(host.callTool(KEY, 'echo', { text: 'x' })).rejects.toMatchObject({ code: 'unknown-server' });
    await until(async () => (await far.left()) === 0, 'nothing is left');
  });

  test('is replaced by one whose entry differs', async () => {
    await using both = await pair(setUp);
    const { host, far } = both;
    const before = await journal(host);
    const other = { ...far.entry, timeout: 60_000 };
    expect(await host.setServers({ [KEY]: other })).toEqual({ added: [KEY], removed: [], errors: {} });
    const after = await journal(host);
    const isAnew = after.start !== before.start || after.handshakes > before.handshakes;
    expect(isAnew || setUp.name === 'sdk own').toBe(true);
  });
});

describe.concurrent.each(able('comes back'))('a server over $name that dies', (setUp) => {
  test('reconnects without a call', async () => {
    await using both = await pair(setUp, QUICK);
    const { host, far } = both;
    const { start } = await journal(host);
    const lost = stateOf(host, (state) => state !== 'connected');
    await far.stop();
    await lost;
    const found = stateOf(host, (state) => state === 'connected');
    await far.revive();
    await found;
    const after = await journal(host);
    expect(after.start).not.toBe(start);
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'back' }))).toBe('back');
  });

  test('and is there again before anybody noticed answers the next call', async () => {
    await using both = await pair(setUp, { retry: { firstMs: 20, ceilingMs: 100 } }, TRUSTED);
    const { host, far } = both;
    const { start } = await journal(host);
    await far.stop();
    await far.revive();
    expect((await journal(host)).start).not.toBe(start);
  });

  test('in the middle of a call ends that call in words', async () => {
    await using both = await pair(setUp, QUICK);
    const { host, far } = both;
    const hung = host.callTool(KEY, 'hang', { key: 'cut' });
    hung.catch(() => {});
    await until(async () => (await journal(host)).begun.includes('cut'), 'the call began');
    await far.stop();
    await expect(hung).rejects.toMatchObject({
      name: 'HostError',
      server: KEY,
      code: expect.stringMatching(/^(closed|unreachable|session-lost)$/),
    });
    await far.revive();
  });
});

describe.concurrent.each(able('is cut off'))('a server over $name that is cut off', (setUp) => {
  test('is found again, the same as it was, by the next call', async () => {
    await using both = await pair(setUp, { retry: { firstMs: 20, ceilingMs: 100 } }, TRUSTED);
    const { host, far } = both;
    const { start } = await journal(host);
    far.cut();
    expect((await journal(host)).start).toBe(start);
    expect(host.status()[KEY]?.state).toBe('connected');
  });
});

describe.concurrent.each(able('environment'))('a server over $name', (setUp) => {
  test('gets the least environment and what its entry says, and no secret of the host', async () => {
    await using both = await pair(setUp, {}, { env: { OWN: 'yes' } });
    const { structuredContent } = await both.host.callTool(KEY, 'environment');
    const known = new Set(['PATH', 'HOME', 'OWN', '__CF_USER_TEXT_ENCODING']);
    expect(structuredContent).toMatchObject({ OWN: 'yes', PATH: ENV.PATH, HOME: ENV.HOME });
    expect(Object.keys(structuredContent ?? {}).filter((name) => !known.has(name))).toEqual([]);
  });
});

test.concurrent.each(['legacy', 'modern'] as const)(
  'a process of the %s era is started once a dial',
  async (era) => {
    await using far = await startStdio(era);
    await using host = hostOf(far);
    await host.ready({ servers: [KEY] });
    expect(await far.started()).toBe(1);
    expect(await host.reconnect(KEY)).toMatchObject({ state: 'connected', era });
    expect(await far.started()).toBe(2);
  },
);
