import { expect, test } from 'vitest';
import { createHost, type HostEvent, type HostServerEntry } from '../../src/entry/host.ts';
import { toolServer } from '../../src/entry/index.ts';
import { fixture } from './fixture-server.ts';

const shop = () => toolServer('shop').tool('price', 'What it costs', {}, () => '30 crowns');

test('servers of different kinds are one host: tools with their server, calls, status', async () => {
  await using host = createHost({ mcpServers: { fix: fixture(), shop: shop() } });
  await host.ready();
  const tools = await host.listTools();
  expect(tools).toContainEqual(expect.objectContaining({ server: 'shop', name: 'price' }));
  expect(tools.filter(({ server }) => server === 'fix').length).toBeGreaterThan(3);
  expect(await host.callTool('shop', 'price')).toMatchObject({ content: [{ text: '30 crowns' }] });
  expect(await host.callTool('fix', 'echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
  expect(host.status()).toMatchObject({
    fix: { state: 'connected', attempt: 0, stderr: [] },
    shop: { state: 'connected', era: 'legacy', tools: 1 },
  });
  expect(host.calls).toMatchObject([
    { server: 'shop', tool: 'price', attempts: 1, outcome: 'answered' },
    { server: 'fix', tool: 'echo', attempts: 1, outcome: 'answered' },
  ]);
});

test('what is no entry fails alone and says what is wrong with it', async () => {
  const bad = { command: '' } as HostServerEntry;
  const odd = 7 as unknown as HostServerEntry;
  await using host = createHost({ mcpServers: { bad, odd, shop: shop() } });
  await host.ready();
  expect(host.status()).toMatchObject({
    bad: { state: 'failed', cause: { code: 'bad-config', message: expect.stringContaining('"command"') } },
    odd: { state: 'failed', cause: { code: 'bad-config' } },
    shop: { state: 'connected' },
  });
  await expect(host.ready({ servers: ['bad'] })).rejects.toMatchObject({ code: 'bad-config', server: 'bad' });
});

test('whoever listens as soon as there is a host hears of every state', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  const heard: HostEvent[] = [];
  using _ = host.events.on((event) => heard.push(event));
  await host.ready();
  const states = heard.flatMap((event) => (event.type === 'state' ? [event.status.state] : []));
  expect(states).toEqual(['pending', 'connecting', 'connected']);
  expect(heard).toContainEqual({ type: 'progress', settled: 0, total: 1, waitingFor: ['shop'] });
  expect(heard).toContainEqual({ type: 'progress', settled: 1, total: 1, waitingFor: [] });
});

test('a server nobody named is refused with the names there are', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  const message = 'MCP server "shopp": nobody named it; there are shop';
  await expect(host.callTool('shopp', 'price')).rejects.toMatchObject({ code: 'unknown-server', message });
  await expect(host.reconnect('shopp')).rejects.toMatchObject({ code: 'unknown-server' });
  await expect(host.toggle('shopp', true)).rejects.toMatchObject({ code: 'unknown-server' });
});

test('one that is turned off is not called; turned on it is there again', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  expect(await host.toggle('shop', false)).toMatchObject({ state: 'disabled' });
  expect(await host.listTools()).toEqual([]);
  await expect(host.callTool('shop', 'price')).rejects.toMatchObject({ code: 'disabled' });
  expect(await host.toggle('shop', true)).toMatchObject({ state: 'connected' });
  expect(await host.callTool('shop', 'price')).toMatchObject({ content: [{ text: '30 crowns' }] });
});

test('other servers: the same object stays, the others come and go', async () => {
  const kept = shop();
  await using host = createHost({ mcpServers: { kept, gone: shop() } });
  await host.ready();
  const { since } = host.status().kept ?? {};
  const set = await host.setServers({ kept, fresh: shop(), bad: { command: '' } });
  expect(set).toMatchObject({ added: ['fresh'], removed: ['gone'], errors: { bad: expect.any(String) } });
  expect(Object.keys(host.status())).toEqual(['kept', 'fresh']);
  expect(host.status().kept?.since).toBe(since);
});

test('after its end a host does nothing more, and says so', async () => {
  const host = createHost({ mcpServers: { shop: shop() } });
  await host.ready();
  const events: HostEvent[] = [];
  const reading = (async () => {
    for await (const event of host.events) events.push(event);
  })();
  await Promise.all([host.close(), host.close()]);
  await reading;
  await expect(host.callTool('shop', 'price')).rejects.toMatchObject({ code: 'closed' });
  await expect((async () => host.setServers({}))()).rejects.toMatchObject({ code: 'closed' });
});
