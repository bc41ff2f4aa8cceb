import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import {
  openSession,
  type SdkServer,
  toolServer,
  toolServerOf,
} from '../../../src/tool-server/sdk-server.ts';
import { rpcUser } from '../rpc-user.ts';

const text = (it: string) => ({ content: [{ type: 'text' as const, text: it }] });

function calc(): SdkServer {
  return toolServer('calc', { version: '2.0.0', instructions: 'Add numbers.' })
    .tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b)
    .tool('raw', 'By JSON Schema', { type: 'object', properties: { q: { type: 'string' } } }, (args) => args);
}

/** A client of the official SDK, connected to the object. */
async function clientOf(instance: McpServer): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await Promise.all([instance.connect(far), client.connect(near)]);
  return client;
}

const run = promisify(execFile);

/** A user of a session on the server; `result` is the result of a request. */
function user(entry: Parameters<typeof openSession>[0]) {
  const open = rpcUser((port) => openSession(entry, port), { server: 'calc' });
  const result = async (method: string, params?: object) => {
    const answer = await open.ask(method, params);
    return (answer as unknown as { result: Record<string, unknown> }).result;
  };
  return { ...open, result };
}

const callOf = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args });

test('the object accepts one transport at a time, also beside a session of a query', async () => {
  const server = calc();
  user(server as never);
  const client = await clientOf(server.instance);
  const [, second] = InMemoryTransport.createLinkedPair();
  await expect(server.instance.connect(second)).rejects.toThrow('Already connected to a transport');
  await client.close();
  const next = await clientOf(server.instance);
  expect(await next.callTool(callOf('add', { a: 1, b: 2 }))).toEqual(text('3'));
  await server.instance.close();
  expect(server.instance.isConnected()).toBe(false);
});

test('the object is an McpServer with the tools of the server, as a client of the official SDK sees them', async () => {
  const server = calc();
  expect(server.instance).toBeInstanceOf(McpServer);
  const client = await clientOf(server.instance);
  expect(server.instance.isConnected()).toBe(true);
  expect(client.getServerVersion()).toEqual({ name: 'calc', version: '2.0.0' });
  expect(client.getInstructions()).toBe('Add numbers.');
  const { tools } = await client.listTools();
  expect(tools).toEqual(toolServerOf(calc())?.toolsList().tools);
  expect(await client.callTool(callOf('add', { a: 1, b: 2 }))).toEqual(text('3'));
  await server.instance.close();
  expect(server.instance.isConnected()).toBe(false);
});

test('tools that are registered on the object are served, before and during a session', async () => {
  const server = calc();
  const open = user(server);
  await open.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'u' },
  });
  server.instance.registerTool('double', { inputSchema: { n: z.number() } }, async ({ n }) =>
    text(`${n * 2}`),
  );
  await expect
    .poll(() => open.received)
    .toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
  const later = user(server);
  for (const it of [open, later]) {
    const { tools } = await it.result('tools/list');
    expect(tools).toMatchObject([{ name: 'add' }, { name: 'raw' }, { name: 'double' }]);
    expect(await it.result('tools/call', callOf('double', { n: 2 }))).toEqual(text('4'));
    expect(await it.result('tools/call', callOf('add', { a: 1, b: 2 }))).toEqual(text('3'));
    expect(await it.result('tools/call', callOf('none'))).toMatchObject({ isError: true });
  }
});

test('tools of the server and of the object must have different names', () => {
  const server = calc();
  expect(() => server.instance.registerTool('add', {}, async () => text(''))).toThrow('already registered');
  server.instance.tool('mine', async () => text(''));
  expect(() => server.tool('mine', '', {}, () => '')).toThrow(
    expect.objectContaining({ code: 'duplicate-tool' }),
  );
});

test('tools that are added to and removed from the server later are those of the object too', async () => {
  const server = calc();
  const client = await clientOf(server.instance);
  server.tool('late', 'Late', {}, () => 'here');
  server.remove('add');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['raw', 'late']);
  expect(await client.callTool(callOf('late'))).toEqual(text('here'));
  expect(await client.callTool(callOf('add'))).toMatchObject({ isError: true });
});

test('a tool that the program disables or replaces on the object is called there', async () => {
  const server = calc();
  const direct = toolServerOf(server);
  const { instance } = server;
  expect(direct?.find('add')).toBeDefined();
  const { add } = (instance as unknown as { _registeredTools: Record<string, Registered> })._registeredTools;
  add?.update({ callback: async ({ a }: { a: number }) => text(`replaced ${a}`) });
  expect(direct?.find('add')).toBeUndefined();
  const session = user(server);
  expect(await session.result('tools/call', callOf('add', { a: 1, b: 2 }))).toEqual(text('replaced 1'));
  add?.update({ enabled: false });
  expect((await session.result('tools/list')).tools).toMatchObject([{ name: 'raw' }]);
});

type Registered = { update(changes: object): void };

test.each<[string, (instance: McpServer, seen: string[]) => void]>([
  [
    'request handlers',
    (instance, seen) =>
      instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
        seen.push(params.name);
        return text('handled');
      }),
  ],
  [
    'connections',
    (instance, seen) => {
      const connect = instance.connect.bind(instance);
      instance.connect = async (transport) => {
        await connect(transport);
        const { onmessage } = transport;
        transport.onmessage = (message, extra) => {
          if ('method' in message && message.method === 'tools/call') seen.push(String(message.params?.name));
          onmessage?.(message, extra);
        };
      };
    },
  ],
])('a program that intercepts the %s of the object sees every call', async (_, intercept) => {
  const server = calc();
  const seen: string[] = [];
  intercept(server.instance, seen);
  await user(server).result('tools/call', callOf('add', { a: 1, b: 2 }));
  expect(seen).toEqual(['add']);
});

test('resources and prompts of the server are those of the object', async () => {
  const server = toolServer('docs', {
    resources: [{ uri: 'docs://a', name: 'a', mimeType: 'text/plain', read: () => 'A' }],
    prompts: [
      { name: 'plain', get: () => 'Plain.' },
      {
        name: 'greet',
        arguments: [{ name: 'who', description: 'Whom', required: true }, { name: 'how' }],
        get: ({ who }) => `Greet ${who}.`,
      },
    ],
  });
  const client = await clientOf(server.instance);
  expect(await client.listResources()).toMatchObject({ resources: [{ uri: 'docs://a', name: 'a' }] });
  expect(await client.readResource({ uri: 'docs://a' })).toMatchObject({ contents: [{ text: 'A' }] });
  expect(await client.listPrompts()).toMatchObject({
    prompts: [
      { name: 'plain' },
      {
        name: 'greet',
        arguments: [
          { name: 'who', description: 'Whom', required: true },
          { name: 'how', required: false },
        ],
      },
    ],
  });
  expect(await client.getPrompt({ name: 'plain' })).toMatchObject({ messages: [{ role: 'user' }] });
  expect(await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })).toMatchObject({
    messages: [{ content: { text: 'Greet Ada.' } }],
  });
});

test('an object behind a Proxy, and a copy of the entry, are served like the server', async () => {
  const server = calc();
  const entries = [{ ...server }, { instance: new Proxy(server.instance, {}) }];
  for (const entry of entries) {
    const session = user(entry);
    expect(await session.result('tools/call', callOf('add', { a: 1, b: 2 }))).toEqual(text('3'));
    session.session.close();
  }
});

test('the class is loaded when a program first uses the object, not by a query', async () => {
  const entry = new URL('../../../src/entry/index.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      urls.push(found.url);
      return found;
    } });
    const isLoaded = () => urls.some((url) => url.includes('@modelcontextprotocol/sdk/'));
    const { attach, createSdkMcpServer, query, tool } = await import(${JSON.stringify(entry)});
    const add = createSdkMcpServer({ name: 'calc', tools: [tool('add', '', {}, () => 'x')] });
    const mcpServers = { add, attached: attach(add, { assigns: {} }) };
    for await (const _ of query({ prompt: 'hi', options: { mcpServers, model: 'rehearsal', settingSources: [] } }));
    const before = isLoaded();
    add.instance;
    console.log(before, isLoaded());
  `;
  const home = mkdtempSync(join(tmpdir(), 'instance-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = { PATH: process.env.PATH, HOME: home, TOOLPLANE_HOME: home };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: home, env });
  expect(stdout.trim()).toBe('false true');
});
