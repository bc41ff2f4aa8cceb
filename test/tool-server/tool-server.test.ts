import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failedResult } from '../../src/tool-server/result.ts';
import { type AnyTool, tool } from '../../src/tool-server/tool.ts';
import { checkServerOptions, ToolServer } from '../../src/tool-server/tool-server.ts';
import { gate } from '../support/gate.ts';
import { rpcUser } from './rpc-user.ts';

describe('tool server', () => {
  const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
  const named = (name: string): AnyTool => tool(name, `The tool ${name}`, {}, () => name);
  const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  const microtasks = () => new Promise((resolve) => setImmediate(resolve));

  describe('tools of a server', () => {
    test('R104 tools come in the order of their declaration, each time', () => {
      const tools = ['zeta', 'alpha', '10', '2', 'beta'].map(named);
      const server = new ToolServer({ name: 'calc', tools });
      expect(server.tools).toEqual(tools);
      const names = () => server.toolsList().tools.map((it) => it.name);
      expect([names(), names()]).toEqual([
        ['zeta', 'alpha', '10', '2', 'beta'],
        ['zeta', 'alpha', '10', '2', 'beta'],
      ]);
    });

    test('a server without tools lists none', () => {
      expect(new ToolServer({ name: 'calc' }).toolsList()).toEqual({ tools: [] });
    });

    test('C9 the version is 1.0.0 by default', () => {
      expect(new ToolServer({ name: 'calc' }).version).toBe('1.0.0');
      expect(new ToolServer({ name: 'calc', version: '2.1.0' }).version).toBe('2.1.0');
    });

    test.each([[undefined], [{}], [{ name: '' }], [{ name: 5 }]])('a server needs a name: %j', (options) => {
      expect(() => new ToolServer(options as never)).toThrow(expect.objectContaining({ code: 'bad-server' }));
    });
  });

  describe('conflicting names', () => {
    test.each([
      [['add', 'add'], 'server "calc" has two tools named "add": rename one'],
      [
        ['do it', 'do.it'],
        'server "calc": the tools "do it" and "do.it" both normalize to "do_it": rename one',
      ],
    ])('rejects %j', (names, message) => {
      const expected = expect.objectContaining({ code: 'duplicate-tool', message });
      expect(() => new ToolServer({ name: 'calc', tools: names.map(named) })).toThrow(expected);
      const server = new ToolServer({ name: 'calc' });
      expect(() => server.add(...names.map(named))).toThrow(expected);
      expect(server.tools).toEqual([]);
    });

    test('names are case-sensitive', () => {
      expect(new ToolServer({ name: 'calc', tools: [named('add'), named('Add')] }).tools).toHaveLength(2);
    });
  });

  describe('changes', () => {
    test('R79 every open session gets one notification for the changes of one tick', async () => {
      const server = new ToolServer({ name: 'calc', tools: [named('old')] });
      const users = [1, 2].map(() => rpcUser((port) => server.open(port)));
      const gone = rpcUser((port) => server.open(port));
      gone.session.close();
      server.add(named('a'), named('b'));
      server.add(named('c'));
      server.remove('old');
      await microtasks();
      expect(users.map((user) => user.received)).toEqual([[LIST_CHANGED], [LIST_CHANGED]]);
      expect(gone.received).toEqual([]);
      expect(server.toolsList().tools.map((it) => it.name)).toEqual(['a', 'b', 'c']);
      server.remove('a');
      await microtasks();
      expect(users[0]?.received).toEqual([LIST_CHANGED, LIST_CHANGED]);
    });

    test('an invalid tool adds none and sends no notification', async () => {
      const server = new ToolServer({ name: 'calc', tools: [named('old')] });
      const user = rpcUser((port) => server.open(port));
      const bad = tool('bad', '', { type: 'string' }, () => 1);
      expect(() => server.add(named('new'), bad)).toThrow(expect.objectContaining({ code: 'bad-schema' }));
      server.add();
      await microtasks();
      expect(server.toolsList().tools.map((it) => it.name)).toEqual(['old']);
      expect(user.received).toEqual([]);
    });

    test('a running call of a removed tool continues', async () => {
      const door = gate<string>();
      const server = new ToolServer({ name: 'calc', tools: [tool('slow', '', {}, () => door.pass())] });
      const call = server.call('slow');
      await door.reached;
      server.remove('slow');
      door.open('done');
      expect(await call).toEqual(text('done'));
      await expect(server.call('slow')).rejects.toMatchObject({ code: 'unknown-tool' });
    });

    test('removing an unknown tool is an error', () => {
      const server = new ToolServer({ name: 'calc', tools: [named('a'), named('b')] });
      expect(() => server.remove('c')).toThrow(
        expect.objectContaining({
          code: 'unknown-tool',
          message: 'server "calc" has no tool "c"; it has "a", "b"',
        }),
      );
    });
  });

  describe('a direct call', () => {
    const add = tool('add', 'Adds', { a: z.number(), b: z.number().default(3) }, ({ a, b }) => a + b);
    const server = new ToolServer({ name: 'calc', tools: [add] });

    test('R119 R129 validates, runs and wraps: 5 + 3 is the text 8', async () => {
      expect(await server.call('add', { a: 5 })).toEqual(text('8'));
      expect(await server.call('add', { a: 'x' })).toMatchObject({ isError: true });
      expect(await server.call('add')).toMatchObject({ isError: true });
    });

    test('the error of an unknown tool lists the known ones', async () => {
      await expect(server.call('sub')).rejects.toMatchObject({
        code: 'unknown-tool',
        message: 'server "calc" has no tool "sub"; it has "add"',
      });
      await expect(new ToolServer({ name: 'x' }).call('sub')).rejects.toMatchObject({
        message: 'server "x" has no tool "sub"; it has none',
      });
    });

    test('accepts state, ids and listeners', async () => {
      const told: unknown[] = [];
      const spy = tool('spy', '', {}, (_args, ctx) => {
        ctx.progress(1);
        ctx.log('info', 'hello');
        return {
          assigns: ctx.assigns,
          server: ctx.server,
          toolUseId: ctx.toolUseId,
          requestId: ctx.requestId ?? null,
        };
      });
      const result = await new ToolServer({ name: 'calc', tools: [spy] }).call(
        'spy',
        {},
        {
          assigns: { user: 'ada' },
          toolUseId: 'toolu_1',
          onProgress: (it) => told.push(it),
          onLog: (...it) => told.push(it),
        },
      );
      expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual({
        assigns: { user: 'ada' },
        server: 'calc',
        toolUseId: 'toolu_1',
        requestId: null,
      });
      expect(told).toEqual([{ progress: 1 }, ['info', 'hello']]);
    });

    test('the signal reaches the handler; an already aborted call does not start', async () => {
      const door = gate();
      const waits = tool('waits', '', {}, async (_args, { signal }) => {
        await door.pass();
        signal.throwIfAborted();
      });
      const slow = new ToolServer({ name: 'calc', tools: [waits] });
      const controller = new AbortController();
      const call = slow.call('waits', {}, { signal: controller.signal });
      await door.reached;
      controller.abort(new Error('enough'));
      door.open();
      expect(await call).toEqual(failedResult('enough'));
      expect(await slow.call('waits', {}, { signal: AbortSignal.abort(new Error('early')) })).toEqual(
        failedResult('early'),
      );
    });
  });

  describe('many users at once', () => {
    const whoami = tool(
      'whoami',
      '',
      {},
      (_args, ctx) => `${ctx.assigns.user} at ${ctx.server} by ${ctx.requestId}`,
    );

    test('each session has its own state, key and ids; only the handlers are shared', async () => {
      const server = new ToolServer({ name: 'calc', tools: [whoami] });
      const users = ['ada', 'bob'].map((user) =>
        rpcUser((port) => server.open(port), { server: `key-${user}`, assigns: { user } }),
      );
      const answers = await Promise.all(users.map((user) => user.ask('tools/call', { name: 'whoami' }, 7)));
      expect(answers).toEqual(
        ['ada', 'bob'].map((user) => ({
          result: text(`${user} at key-${user} by 7`),
          jsonrpc: '2.0',
          id: 7,
        })),
      );
    });

    test('closing one session keeps the others; closing the server ends all, and it can be used again', async () => {
      const server = new ToolServer({ name: 'calc', tools: [whoami] });
      const [one, other] = [1, 2].map(() => rpcUser((port) => server.open(port)));
      one?.session.close();
      expect(await one?.ask('ping')).toMatchObject({
        error: { code: -32603, message: "server 'calc' is closed" },
      });
      expect(await other?.ask('ping')).toMatchObject({ result: {} });
      expect(server.isConnected()).toBe(true);
      await server.close();
      expect(server.isConnected()).toBe(false);
      expect(await other?.ask('ping')).toMatchObject({ error: { code: -32603 } });
      const again = rpcUser((port) => server.open(port));
      expect(await again.ask('ping')).toMatchObject({ result: {} });
    });

    test('R110 a thousand sessions leave nothing behind', async () => {
      const server = new ToolServer({ name: 'calc', tools: [whoami] });
      for (let i = 0; i < 1_000; i++) {
        const user = rpcUser((port) => server.open(port));
        await user.ask('tools/call', { name: 'whoami' });
        user.session.close();
      }
      expect(server.isConnected()).toBe(false);
    });
  });
});

describe('server options', () => {
  const t = tool('t', '', {}, () => 1);
  const read = () => 'text';

  test.each([
    [{ name: 'calc' }],
    [{ name: 'calc', version: '1', instructions: '', tools: [t], alwaysLoad: true, timeout: 0.5 }],
    [{ name: 'calc', strictProtocolErrors: false, emptyStubs: true, logging: true }],
    [{ name: 'calc', tools: undefined, tool: undefined, timeout: undefined }],
    [{ name: 'calc', resources: [{ uri: 'a://b', name: 'b', read }], prompts: [{ name: 'p', get: read }] }],
  ])('accepts valid options: case %#', (options) => {
    expect(() => checkServerOptions(options as never)).not.toThrow();
  });

  test.each<[unknown, string]>([
    [undefined, 'The name of a tool server must be a non-empty string'],
    [{ name: '' }, 'The name of a tool server must be a non-empty string'],
    [{ name: 'calc', tool: [t] }, 'server "calc": "tool" is not an option; did you mean "tools"?'],
    [{ name: 'calc', whatever: 1 }, 'server "calc": "whatever" is not an option'],
    [{ name: 'calc', toString: 1 }, 'server "calc": "toString" is not an option'],
    [
      { name: 'calc', tools: t },
      'server "calc": "tools" must be a list; it is an object { name: string, description: string, inputSchema: object, handler: function }',
    ],
    [
      { name: 'calc', tools: [t, undefined] },
      'server "calc": tools[1] is undefined; pass a value returned by tool()',
    ],
    [
      { name: 'calc', tools: [read] },
      'server "calc": tools[0] is a function; pass a value returned by tool()',
    ],
    [{ name: 'calc', version: 2 }, 'server "calc": "version" must be a string; it is 2'],
    [{ name: 'calc', logging: 'yes' }, 'server "calc": "logging" must be true or false; it is "yes"'],
    [
      { name: 'calc', timeout: 0 },
      'server "calc": "timeout" must be a number of milliseconds above 0; it is 0',
    ],
    [
      { name: 'calc', timeout: '5' },
      'server "calc": "timeout" must be a number of milliseconds above 0; it is "5"',
    ],
    [{ name: 'calc', resources: {} }, 'server "calc": "resources" must be a list; it is an object {  }'],
    [{ name: 'calc', resources: [{ name: 'b', read }] }, 'server "calc": resources[0] needs "uri", a string'],
    [
      { name: 'calc', resources: [{ uri: 'a://b', read }] },
      'server "calc": resources[0] needs "name", a string',
    ],
    [
      { name: 'calc', resources: [{ uri: 'a://b', name: 'b' }] },
      'server "calc": resources[0] needs "read", a function',
    ],
    [{ name: 'calc', prompts: [undefined] }, 'server "calc": prompts[0] needs "name", a string'],
    [
      { name: 'calc', prompts: [{ name: '', get: read }] },
      'server "calc": prompts[0] needs "name", a string',
    ],
    [{ name: 'calc', prompts: [{ name: 'p' }] }, 'server "calc": prompts[0] needs "get", a function'],
  ])('rejects invalid options: case %#', (options, message) => {
    expect(() => checkServerOptions(options as never)).toThrow(
      expect.objectContaining({ code: 'bad-server', message }),
    );
  });
});
