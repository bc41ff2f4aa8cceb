import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ForeignServer } from '../../src/tool-server/foreign-server.ts';
import {
  attach,
  createSdkMcpServer,
  openSession,
  type SdkServerEntry,
  toolServer,
  toolServerOf,
} from '../../src/tool-server/sdk-server.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { FOREIGN_VERSIONS, type Foreign } from '../support/foreign-servers.ts';
import { rpcUser } from './rpc-user.ts';

const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
const add = tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

describe('createSdkMcpServer', () => {
  test('R16 R17 R18 returns the official shape: type, name and a live instance', () => {
    const server = createSdkMcpServer({ name: 'calc', version: '2.0.0', tools: [add] });
    expect(Object.keys(server)).toEqual(['type', 'name', 'instance']);
    expect(server).toMatchObject({ type: 'sdk', name: 'calc' });
    expect(server.instance).toBeInstanceOf(McpServer);
    expect({ ...server }.instance).toBe(server.instance);
    expect(server.tools).toEqual([add]);
  });

  test('the entry has a timeout only if one is given', () => {
    expect({ ...createSdkMcpServer({ name: 'calc', timeout: 5 }) }).toMatchObject({ timeout: 5 });
    expect(createSdkMcpServer({ name: 'calc' })).not.toHaveProperty('timeout');
  });

  test('R108 has the methods add, remove and call', async () => {
    const server = createSdkMcpServer({ name: 'calc' });
    server.add(add);
    expect(await server.call('add', { a: 5, b: 3 })).toEqual(text('8'));
    server.remove('add');
    await expect(server.call('add')).rejects.toMatchObject({ code: 'unknown-tool' });
  });
});

test('R6 R19 R93 toolServer chains its tools, in order', async () => {
  const server = toolServer('calc', { version: '3.0.0' })
    .tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b)
    .tool('get_time', 'The time', {}, () => 'now', { annotations: { readOnlyHint: true } })
    .tool('raw', 'By JSON Schema', { type: 'object' }, (args: { q?: string }) => args.q);
  expect(server.tools.map((it) => it.name)).toEqual(['add', 'get_time', 'raw']);
  expect(toolServerOf(server)?.version).toBe('3.0.0');
  expect(await server.call('raw', { q: 'x' })).toEqual(text('x'));
});

describe('attach', () => {
  test('R103 the same server can be attached many times with different state', async () => {
    const server = toolServer('calc').tool('whoami', '', {}, (_args, ctx) => ctx.assigns.user);
    const answers = ['ada', 'bob'].map((user) => {
      const entry = attach(server, { assigns: { user } });
      return rpcUser((port) => openSession(entry, port), { assigns: entry.assigns ?? {} }).ask(
        'tools/call',
        { name: 'whoami' },
        1,
      );
    });
    expect(await Promise.all(answers)).toEqual(
      ['ada', 'bob'].map((user) => ({ result: text(user), jsonrpc: '2.0', id: 1 })),
    );
  });

  test('keeps timeout and policy of the entry', () => {
    const assigns = { a: 1 };
    const server = createSdkMcpServer({ name: 'calc', timeout: 5 });
    expect(attach(server, { assigns })).toEqual({
      type: 'sdk',
      name: 'calc',
      instance: server.instance,
      timeout: 5,
      assigns,
    });
    const entry: SdkServerEntry = {
      type: 'sdk',
      name: 'calc',
      instance: server.instance,
      tools: [{ name: 'add', permission_policy: 'always_ask' }],
    };
    expect(attach(entry, { assigns })).toEqual({ ...entry, assigns });
  });
});

test.each<[string, unknown[], string]>([
  [
    'no state',
    [toolServer('calc')],
    'attach() of server "calc" requires { assigns }, the application state passed to its handlers',
  ],
  [
    'state by another name',
    [toolServer('calc'), { assign: {} }],
    'attach() of server "calc" requires { assigns }, the application state passed to its handlers',
  ],
  [
    'no server',
    [undefined, { assigns: {} }],
    'attach() requires a server returned by toolServer() or createSdkMcpServer(), but received undefined',
  ],
  [
    'another object',
    [{ command: 'x' }, { assigns: {} }],
    'attach() requires a server returned by toolServer() or createSdkMcpServer(), but received an object { command: string }',
  ],
])('attach rejects %s', (_name, args, message) => {
  expect(() => (attach as unknown as (...all: unknown[]) => void)(...args)).toThrow(
    expect.objectContaining({ code: 'bad-server', message }),
  );
});

test('an unknown option is rejected by name', () => {
  expect(() => createSdkMcpServer({ name: 'calc', tool: [add] } as never)).toThrow(
    expect.objectContaining({
      code: 'bad-server',
      message: 'server "calc": "tool" is not an option; did you mean "tools"?',
    }),
  );
});

describe('openSession', () => {
  const ask = (instance: SdkServerEntry['instance'], method: string, params?: object) =>
    rpcUser((port) => openSession({ instance }, port), { server: 'key' }).ask(method, params, 1);

  test('serves Toolplane servers', async () => {
    const { instance } = createSdkMcpServer({ name: 'calc', tools: [add] });
    expect(await ask(instance, 'ping')).toEqual({ result: {}, jsonrpc: '2.0', id: 1 });
  });

  test.each(FOREIGN_VERSIONS)('serves an instance of %s', async (_version, make) => {
    const answer = await ask(make().server as ForeignServer, 'tools/call', {
      name: 'add',
      arguments: { a: 1, b: 2 },
    });
    expect(answer).toEqual({ result: text('3'), jsonrpc: '2.0', id: 1 });
  });

  test.each(FOREIGN_VERSIONS)(
    'a factory of %s creates one server per session, closed with it',
    async (_version, make) => {
      const made: Foreign[] = [];
      const factory = () => {
        const foreign = make();
        made.push(foreign);
        return foreign.server as ForeignServer;
      };
      const users = ['one', 'two'].map((server) =>
        rpcUser((port) => openSession({ instance: factory }, port), { server }),
      );
      await Promise.all(users.map((user) => user.ask('ping')));
      expect(made.map(({ server }) => server.isConnected())).toEqual([true, true]);
      users[0]?.session.close();
      expect(made.map(({ server }) => server.isConnected())).toEqual([false, true]);
      users[1]?.session.close();
      expect(made.map(({ log }) => log)).toEqual([['closed'], ['closed']]);
    },
  );

  test('a server of a factory is closed with its session, used or not', async () => {
    const closed = Promise.withResolvers<void>();
    const session = openSession(
      {
        instance: () => ({
          connect: async () => {},
          close: async () => {
            closed.resolve();
            throw new Error('already gone');
          },
        }),
      },
      { server: 'key', assigns: {}, send: () => {} },
    );
    session.close();
    await closed.promise;
  });

  test.each<[string, object]>([
    ['cannot be closed', {}],
    ['throws when it is closed', { close: () => raise() }],
    ['gives nothing when it is closed', { close: () => undefined }],
  ])('a server of a factory that %s affects nothing else', (_name, more) => {
    const make = () => ({ connect: async () => {}, ...more }) as unknown as ForeignServer;
    const session = openSession({ instance: make }, { server: 'key', assigns: {}, send: () => {} });
    expect(() => session.close()).not.toThrow();
  });

  test.each([[undefined], [null], [{}], [{ connect: 5 }], ['text'], [() => ({ close: async () => {} })]])(
    'rejects the instance %j by its key',
    (instance) => {
      expect(() =>
        openSession({ instance: instance as never }, { server: 'key', assigns: {}, send: () => {} }),
      ).toThrow(
        expect.objectContaining({
          code: 'bad-server',
          server: 'key',
          message:
            'mcpServers["key"]: "instance" is not an MCP server; pass what createSdkMcpServer() returns, or an McpServer',
        }),
      );
    },
  );
});

function raise(): never {
  throw new Error('already gone');
}
