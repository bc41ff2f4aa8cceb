import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  createHost,
  type Host,
  type HostEvent,
  type HostServerEntry,
  ServerFault,
} from '../../src/entry/host.ts';
import { toolServer } from '../../src/entry/index.ts';
import { fixture } from '../support/fixture-server.ts';

const shop = () => toolServer('shop').tool('price', 'What it costs', {}, () => '30 crowns');

test('combines servers of different kinds: tools, calls, status', async () => {
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

test('an invalid entry is reported and does not affect the others', async () => {
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

test('a listener added right after createHost() gets every state', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  const heard: HostEvent[] = [];
  using _ = host.events.on((event) => heard.push(event));
  await host.ready();
  const states = heard.flatMap((event) => (event.type === 'state' ? [event.status.state] : []));
  expect(states).toEqual(['pending', 'connecting', 'connected']);
  expect(heard).toContainEqual({ type: 'progress', settled: 0, total: 1, waitingFor: ['shop'] });
  expect(heard).toContainEqual({ type: 'progress', settled: 1, total: 1, waitingFor: [] });
});

test('an unknown server is rejected with the known names', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  const message = 'MCP server "shopp": unknown server; available: shop';
  await expect(host.callTool('shopp', 'price')).rejects.toMatchObject({ code: 'unknown-server', message });
  await expect(host.reconnect('shopp')).rejects.toMatchObject({ code: 'unknown-server' });
  await expect(host.toggle('shopp', true)).rejects.toMatchObject({ code: 'unknown-server' });
});

test('a disabled server is not called; enabling it connects again', async () => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  expect(await host.toggle('shop', false)).toMatchObject({ state: 'disabled' });
  expect(await host.listTools()).toEqual([]);
  await expect(host.callTool('shop', 'price')).rejects.toMatchObject({ code: 'disabled' });
  expect(await host.toggle('shop', true)).toMatchObject({ state: 'connected' });
  expect(await host.callTool('shop', 'price')).toMatchObject({ content: [{ text: '30 crowns' }] });
});

test('setServers() keeps unchanged servers, replaces others and reports invalid ones', async () => {
  const kept = shop();
  await using host = createHost({ mcpServers: { kept, gone: shop() } });
  await host.ready();
  const { since } = host.status().kept ?? {};
  const set = await host.setServers({ kept, fresh: shop(), bad: { command: '' } });
  expect(set).toMatchObject({
    added: ['fresh', 'bad'],
    removed: ['gone'],
    errors: { bad: expect.stringContaining('"command"') },
  });
  expect(host.status()).toMatchObject({
    kept: { state: 'connected', since },
    fresh: { state: 'connected' },
    bad: { state: 'failed', cause: { code: 'bad-config' } },
  });
  expect(host.status()).not.toHaveProperty('gone');
});

test.each([
  ['the entry itself', () => shop()],
  ['its tool server', () => ({ type: 'sdk' as const, name: 'x', instance: shop().instance })],
  ['an entry made of it', () => ({ type: 'sdk' as const, name: 'x', instance: shop() })],
  ['a function that makes one', () => ({ type: 'sdk' as const, name: 'x', instance: () => shop() })],
])('an in-process server: %s', async (_, entry) => {
  await using host = createHost({ mcpServers: { shop: entry() } });
  await host.ready({ servers: ['shop'] });
  expect(await host.callTool('shop', 'price')).toMatchObject({ content: [{ text: '30 crowns' }] });
});

test('common settings of entries apply to in-process servers', async () => {
  const instance = () => {
    throw new Error('boom');
  };
  await using host = createHost({
    mcpServers: { shop: { type: 'sdk', name: 'x', instance, required: true } },
  });
  await expect(host.ready()).rejects.toMatchObject({
    server: 'shop',
    message: expect.stringContaining('boom'),
  });
});

test('ready() connects a required server, also an on-demand one', async () => {
  const entry = { ...fixture(), start: 'on-demand', required: true } as const;
  await using host = createHost({ mcpServers: { fix: entry } });
  expect(host.status().fix?.state).toBe('pending');
  await host.ready();
  expect(host.status().fix?.state).toBe('connected');
});

test('an unknown key in an entry produces a warning with the closest valid key', async () => {
  await using host = createHost({ mcpServers: { fix: { ...fixture(), requried: true } as HostServerEntry } });
  const warnings: string[] = [];
  using _ = host.events.on((event) => {
    if (event.type === 'warning') warnings.push(`${event.server}: ${event.message}`);
  });
  await host.ready();
  expect(warnings).toEqual(['fix: unknown key "requried" in the server entry; did you mean "required"?']);
});

test.each([
  ['ready', (host: Host) => host.ready({ server: ['a'] } as never), 'did you mean "servers"'],
  ['ready', (host: Host) => host.ready({ deadline: 'x' } as never), '"deadline" must be a number'],
  ['callTool', (host: Host) => host.callTool('shop', 'price', {}, { timeout: 5 } as never), 'timeoutMs'],
  ['callTool', (host: Host) => host.callTool('shop', 'price', {}, { signal: {} } as never), 'AbortSignal'],
  ['callTool', (host: Host) => host.callTool('shop', 'price', [] as never), 'must be an object'],
  ['setServers', (host: Host) => host.setServers(null as never), 'must be an object of server entries'],
])('%s rejects invalid arguments (%#)', async (_, use, words) => {
  await using host = createHost({ mcpServers: { shop: shop() } });
  await expect(use(host)).rejects.toMatchObject({
    code: 'bad-config',
    message: expect.stringContaining(words),
  });
});

test("a JSON-RPC error of a server is a ServerFault with the server's name", async () => {
  await using host = createHost({ mcpServers: { fix: fixture() } });
  const failure = await host.callTool('fix', 'no-such-tool').catch((it: unknown) => it);
  expect(failure).toBeInstanceOf(ServerFault);
  expect(failure).toMatchObject({ code: -32603, message: 'no tool no-such-tool', server: 'fix' });
});

test('a closed host rejects every call', async () => {
  const host = createHost({ mcpServers: { shop: shop() } });
  await host.ready();
  const events: HostEvent[] = [];
  const reading = (async () => {
    for await (const event of host.events) events.push(event);
  })();
  const hanging = createHost({
    mcpServers: { hang: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] } },
  });
  const waiting = expect(hanging.ready()).rejects.toMatchObject({ code: 'closed' });
  await Promise.all([host.close(), host.close(), hanging.close(), waiting]);
  await reading;
  for await (const event of host.events) events.push(event);
  expect(host.status()).toMatchObject({ shop: { state: 'disabled', cause: { code: 'closed' } } });
  for (const use of [
    () => host.ready(),
    () => host.listTools(),
    () => host.callTool('shop', 'price'),
    () => host.reconnect('shop'),
    () => host.toggle('shop', true),
    () => host.setServers({}),
  ]) {
    await expect(use()).rejects.toMatchObject({
      code: 'closed',
      message: expect.stringContaining('createHost()'),
    });
  }
});

test('of 2,000 elicitations outside a call, few are forwarded and few warnings are emitted', async () => {
  const open: PromiseWithResolvers<{ action: 'decline' }>[] = [];
  const warned: string[] = [];
  const first = Promise.withResolvers<void>();
  const server = fileURLToPath(new URL('../support/fixtures/asking-server.mjs', import.meta.url));
  await using host = createHost({
    mcpServers: { asking: { command: process.execPath, args: [server] } },
    handlers: {
      elicitation: () => {
        const asked = Promise.withResolvers<{ action: 'decline' }>();
        open.push(asked);
        first.resolve();
        return asked.promise;
      },
    },
  });
  const listening = (async () => {
    for await (const event of host.events) if (event.type === 'warning') warned.push(event.message);
  })();
  await first.promise;
  // During this call the server may ask 16 more at once.
  await host.callTool('asking', 'counts');
  expect(open.length).toBeLessThan(18);
  for (const asked of open) asked.resolve({ action: 'decline' });
  await host.close();
  await listening;
  expect(warned.filter((it) => it.includes('too many elicitation requests')).length).toBeLessThan(6);
});

test('a restarted server does not repeat a declined elicitation, unless the user reconnects it', async () => {
  const script = `
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params, result } = JSON.parse(line);
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } } });
      else if (method === 'tools/list') {
        send({ id, result: { tools: [] } });
        send({ id: 'q', method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } });
      } else if (id === 'q') {
        console.error('answered ' + result.action);
        if (result.action === 'decline') process.exit(1);
      } else if (method && id !== undefined) send({ id, error: { code: -32601, message: 'unknown' } });
    });`;
  let asked = 0;
  const over = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  await using host = createHost({
    mcpServers: { asking: { command: process.execPath, args: ['-e', script] } },
    cacheDirectory: false,
    handlers: {
      elicitation: async () => {
        if (++asked === 2) {
          over.resolve();
          second.resolve();
        }
        return { action: 'decline' };
      },
    },
  });
  void (async () => {
    for await (const event of host.events)
      if (event.type === 'stderr' && event.line === 'answered cancel') over.resolve();
  })();
  await over.promise;
  expect(asked).toBe(1);
  await host.reconnect('asking');
  await second.promise;
});
