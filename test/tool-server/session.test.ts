import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { LOG_LEVELS } from '../../src/protocol/mcp.ts';
import type { CallObserver } from '../../src/tool-server/context.ts';
import { failedResult } from '../../src/tool-server/result.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { ToolServer, type ToolServerOptions } from '../../src/tool-server/tool-server.ts';

import { gate } from '../support/gate.ts';
import { rpcUser } from './rpc-user.ts';

const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
const add = tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);
const boom = tool('boom', 'Throws', {}, () => {
  throw new Error('kaboom');
});
const failure = (id: number | string, code: number, message: unknown) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
const success = (id: number | string, result: object) => ({ result, jsonrpc: '2.0', id });

function open(options: Partial<ToolServerOptions> = {}, port: Parameters<typeof rpcUser>[1] = {}) {
  const server = new ToolServer({ name: 'calculator', version: '1.2.3', tools: [add, boom], ...options });
  return rpcUser((given) => server.open(given), port);
}

describe('initialize', () => {
  test('C9 R72 returns the real name, version and capabilities, byte for byte', async () => {
    const answer = await open({ instructions: 'Use add.' }).ask(
      'initialize',
      { protocolVersion: '2025-11-25' },
      0,
    );
    expect(JSON.stringify(answer)).toBe(
      '{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calculator","version":"1.2.3"},"instructions":"Use add."},"jsonrpc":"2.0","id":0}',
    );
  });

  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('R69 C8 the requested revision %s is answered with %s', async (asked, spoken) => {
    expect(await open().ask('initialize', { protocolVersion: asked })).toMatchObject({
      result: { protocolVersion: spoken },
    });
  });

  test('C7 only what is offered is advertised', async () => {
    const user = open({
      logging: true,
      resources: [{ uri: 'a:b', name: 'r', read: () => '' }],
      prompts: [{ name: 'p', get: () => '' }],
    });
    expect(await user.ask('initialize')).toMatchObject({
      result: { capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} } },
    });
  });

  test('a repeated initialize uses the same session and does not affect running calls', async () => {
    const door = gate<string>();
    const user = open({ tools: [tool('slow', '', {}, () => door.pass())] });
    const first = await user.ask('initialize', {}, 0);
    const call = user.ask('tools/call', { name: 'slow' }, 1);
    await door.reached;
    expect(await user.ask('initialize', {}, 0)).toEqual(first);
    door.open('done');
    expect(await call).toEqual(success(1, text('done')));
  });

  test('ping, list and call work without it', async () => {
    const user = open();
    expect(await user.ask('ping', undefined, 1)).toEqual(success(1, {}));
    expect(await user.ask('tools/list')).toMatchObject({
      result: { tools: [{ name: 'add' }, { name: 'boom' }] },
    });
    expect(await user.ask('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }, 3)).toEqual(
      success(3, text('3')),
    );
  });

  test('C10 R75 the initialized notification has no response', async () => {
    const user = open();
    expect(await user.tell('notifications/initialized')).toBeUndefined();
    expect(await user.ask('ping', undefined, 1)).toEqual(success(1, {}));
  });
});

describe('messages', () => {
  test.each([0, -1, 'abc', '', Number.MAX_SAFE_INTEGER])('R80 the id %o is echoed', async (id) => {
    expect(await open().ask('ping', undefined, id)).toEqual(success(id, {}));
  });

  test.each([2.5, null, {}, [], true])('a request with the id %o is a notification', async (id) => {
    const user = open();
    expect(await user.session.receive({ jsonrpc: '2.0', id, method: 'tools/list' })).toBeUndefined();
  });

  test.each([
    'resources/list',
    'prompts/list',
    'logging/setLevel',
    'server/discover',
    'nope',
    'toString',
    'constructor',
    '__proto__',
  ])('R76 R85 C12 the unknown method %s is -32601', async (method) => {
    expect(await open().ask(method, {}, 1)).toEqual(failure(1, -32601, `Method not found: ${method}`));
  });

  test.each([
    [{ id: 1 }, failure(1, -32600, expect.any(String))],
    [{ id: 1, method: 5 }, failure(1, -32600, expect.any(String))],
    [{ id: 1, method: 'ping', params: [] }, failure(1, -32600, expect.any(String))],
    ['text', undefined],
    [null, undefined],
    [[{ id: 1, method: 'ping' }], undefined],
  ])('after the malformed %j the next request works', async (message, expected) => {
    const user = open();
    expect(await user.session.receive(message)).toEqual(expected);
    expect(await user.ask('ping', undefined, 2)).toEqual(success(2, {}));
  });

  test('unexpected responses and unknown notifications are ignored', async () => {
    const user = open();
    expect(await user.session.receive({ jsonrpc: '2.0', id: 1, result: {} })).toBeUndefined();
    expect(await user.tell('notifications/roots/list_changed')).toBeUndefined();
  });

  test('a message without jsonrpc is accepted', async () => {
    expect(await open().session.receive({ id: 1, method: 'ping' })).toEqual(success(1, {}));
  });
});

describe('tools/list', () => {
  test('is exact, byte for byte', async () => {
    expect(JSON.stringify(await open().ask('tools/list', undefined, 1))).toBe(
      '{"result":{"tools":[{"name":"add","description":"Adds","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]},"execution":{"taskSupport":"forbidden"}},{"name":"boom","description":"Throws","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{}},"execution":{"taskSupport":"forbidden"}}]},"jsonrpc":"2.0","id":1}',
    );
  });

  test('an empty server lists none', async () => {
    expect(await open({ tools: [] }).ask('tools/list', {}, 1)).toEqual(success(1, { tools: [] }));
  });
});

describe('tools/call', () => {
  test('R74 R129 runs the tool and wraps its return value', async () => {
    expect(await open().ask('tools/call', { name: 'add', arguments: { a: 5, b: 3 } }, 2)).toEqual(
      success(2, text('8')),
    );
  });

  test('R74 missing arguments are an empty object', async () => {
    const user = open({ tools: [tool('args', '', { type: 'object' }, (args: object) => args)] });
    expect(await user.ask('tools/call', { name: 'args' }, 1)).toEqual(success(1, text('{}')));
  });

  test('R87 C2 C34 R90 an exception of a handler is an error result', async () => {
    expect(await open().ask('tools/call', { name: 'boom' }, 1)).toEqual(success(1, failedResult('kaboom')));
  });

  test.each([[null], ['text'], [[1]], [{ a: 1 }]])(
    'the invalid arguments %j are an error result',
    async (args) => {
      expect(await open().ask('tools/call', { name: 'add', arguments: args })).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining('Input validation error') }] },
      });
    },
  );

  test('C2 an unknown tool is an error result that names it', async () => {
    expect(await open().ask('tools/call', { name: 'nope' }, 1)).toEqual(
      success(1, failedResult("Tool 'nope' not found")),
    );
  });

  test('R86 C2 an unknown tool is a protocol error with strictProtocolErrors', async () => {
    expect(await open({ strictProtocolErrors: true }).ask('tools/call', { name: 'nope' }, 1)).toEqual(
      failure(1, -32602, "Tool 'nope' not found"),
    );
  });

  test.each([[{}], [{ name: 5 }]])('a call without a name is a protocol error: %j', async (params) => {
    expect(await open().ask('tools/call', params, 1)).toEqual(
      failure(1, -32602, 'tools/call needs the name of a tool'),
    );
  });

  test('R124 calls run concurrently', async () => {
    const doors = { left: gate(), right: gate() };
    const meet = tool('meet', '', { at: z.enum(['left', 'right']) }, async ({ at }) => {
      const other = at === 'left' ? 'right' : 'left';
      doors[other].open();
      await doors[at].pass();
      return at;
    });
    const user = open({ tools: [meet] });
    const calls = ['left', 'right'].map((at, id) =>
      user.ask('tools/call', { name: 'meet', arguments: { at } }, id),
    );
    expect(await Promise.all(calls)).toEqual([success(0, text('left')), success(1, text('right'))]);
  });

  test('R109 a hundred concurrent calls get their own responses', async () => {
    const user = open();
    const calls = Array.from({ length: 100 }, (_, id) =>
      user.ask('tools/call', { name: 'add', arguments: { a: id, b: 1 } }, id),
    );
    expect(await Promise.all(calls)).toEqual(
      Array.from({ length: 100 }, (_, id) => success(id, text(String(id + 1)))),
    );
  });

  test('a duplicate id is rejected without a call, and the first call completes', async () => {
    let runs = 0;
    const door = gate<string>();
    const slow = tool('slow', '', {}, () => {
      runs++;
      return door.pass();
    });
    const user = open({ tools: [slow] });
    const first = user.ask('tools/call', { name: 'slow' }, 7);
    await door.reached;
    expect(await user.ask('tools/call', { name: 'slow' }, 7)).toEqual(
      failure(7, -32600, 'a request with id 7 is already in flight'),
    );
    expect(await user.ask('tools/call', { name: 'nope' }, '7')).toMatchObject({ id: '7' });
    door.open('done');
    expect(await first).toEqual(success(7, text('done')));
    expect(runs).toBe(1);
    expect(await user.ask('tools/call', { name: 'slow' }, 7)).toEqual(success(7, text('done')));
  });

  test('a result of 50 MB is delivered completely', async () => {
    const large = 'x'.repeat(50 * 1024 * 1024);
    const user = open({ tools: [tool('large', '', {}, () => large)] });
    const answer = (await user.ask('tools/call', { name: 'large' }, 1)) as unknown as {
      result: { content: { text: string }[] };
    };
    expect(answer.result.content[0]?.text === large).toBe(true);
  });

  test('the context has the ids of the call and the _meta of the request', async () => {
    const seen: unknown[] = [];
    const spy = tool('spy', '', {}, (_args, { requestId, toolUseId, _meta, server, assigns }) => {
      seen.push({ requestId, toolUseId, _meta, server, assigns });
    });
    const user = open({ tools: [spy] }, { server: 'key', assigns: { user: 'ada' } });
    const _meta = { 'claudecode/toolUseId': 'toolu_1', progressToken: 2 };
    await user.ask('tools/call', { name: 'spy', _meta }, 2);
    await user.ask('tools/call', { name: 'spy', _meta: null }, 3);
    expect(seen).toEqual([
      { requestId: 2, toolUseId: 'toolu_1', _meta, server: 'key', assigns: { user: 'ada' } },
      { requestId: 3, toolUseId: undefined, _meta: {}, server: 'key', assigns: { user: 'ada' } },
    ]);
  });
});

describe('progress', () => {
  const works = tool('works', '', {}, (_args, { progress }) => {
    progress(1, { total: 2, message: 'half' });
    progress(2);
  });

  test.each([2, 0, 'token'])('is sent before the response, with the token %o', async (progressToken) => {
    const user = open({ tools: [works] });
    await user.ask('tools/call', { name: 'works', _meta: { progressToken } });
    expect(user.received).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2, message: 'half' },
      },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 2 } },
    ]);
  });

  test('is not sent without a token or after the response', async () => {
    let late: (() => void) | undefined;
    const keeps = tool('keeps', '', {}, (_args, { progress }) => {
      late = () => progress(3);
    });
    const user = open({ tools: [works, keeps] });
    await user.ask('tools/call', { name: 'works' });
    await user.ask('tools/call', { name: 'keeps', _meta: { progressToken: 1 } });
    late?.();
    expect(user.received).toEqual([]);
  });
});

describe('logging', () => {
  const speaks = tool('speaks', '', {}, (_args, { log }) => {
    for (const level of LOG_LEVELS) log(level, { level });
  });
  const levels = (user: ReturnType<typeof open>) =>
    user.received.map((it) => (it as unknown as { params: { level: string } }).params.level);

  test('reaches the agent from level info, if the server has the capability', async () => {
    const user = open({ tools: [speaks], logging: true });
    await user.ask('tools/call', { name: 'speaks' });
    expect(user.received[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', logger: 'calculator', data: { level: 'info' } },
    });
    expect(levels(user)).toEqual(LOG_LEVELS.slice(1));
  });

  test('the agent sets the level of its session only', async () => {
    const server = new ToolServer({ name: 'calculator', tools: [speaks], logging: true });
    const [quiet, chatty] = [1, 2].map(() => rpcUser((port) => server.open(port)));
    expect(await quiet?.ask('logging/setLevel', { level: 'alert' }, 1)).toEqual(success(1, {}));
    expect(await quiet?.ask('logging/setLevel', { level: 'loud' }, 2)).toMatchObject({
      error: { code: -32602 },
    });
    await chatty?.ask('logging/setLevel', { level: 'debug' });
    await quiet?.ask('tools/call', { name: 'speaks' });
    await chatty?.ask('tools/call', { name: 'speaks' });
    expect(levels(quiet as never)).toEqual(['alert', 'emergency']);
    expect(levels(chatty as never)).toEqual(LOG_LEVELS);
  });

  test('without the capability only onLog gets it, at every level', async () => {
    const heard: string[] = [];
    const user = open({ tools: [speaks] }, { onLog: (level) => heard.push(level) });
    await user.ask('tools/call', { name: 'speaks' });
    expect([user.received, heard]).toEqual([[], LOG_LEVELS]);
  });
});

describe('cancelling', () => {
  test('C31 ends the running tool, answers once, and the session continues', async () => {
    const door = gate();
    const reasons: unknown[] = [];
    const slow = tool('slow', '', {}, async (_args, { signal }) => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason.message, signal.reason.name);
        door.open();
      });
      await door.pass();
      return 'late';
    });
    const user = open({ tools: [slow, add] });
    const call = user.ask('tools/call', { name: 'slow' }, 3);
    await door.reached;
    expect(
      await user.tell('notifications/cancelled', { requestId: 3, reason: 'remote-cancel' }),
    ).toBeUndefined();
    expect(await call).toEqual(failure(3, -32800, 'Request cancelled: remote-cancel'));
    expect(reasons).toEqual(['remote-cancel', 'AbortError']);
    expect(await user.ask('tools/call', { name: 'add', arguments: { a: 1, b: 1 } }, 4)).toEqual(
      success(4, text('2')),
    );
  });

  test('a call that ignores its signal is answered immediately; its late result is dropped', async () => {
    const doors = [gate<string>(), gate<string>()];
    let runs = 0;
    const deaf = tool('deaf', '', {}, () => doors[runs++]?.pass());
    const user = open({ tools: [deaf] });
    const first = user.ask('tools/call', { name: 'deaf' }, 3);
    await doors[0]?.reached;
    await user.tell('notifications/cancelled', { requestId: 3 });
    expect(await first).toEqual(failure(3, -32800, 'Request cancelled: cancelled'));
    const second = user.ask('tools/call', { name: 'deaf' }, 3);
    await doors[1]?.reached;
    doors[0]?.open('of the first');
    doors[1]?.open('of the second');
    expect(await second).toEqual(success(3, text('of the second')));
    expect(user.received).toEqual([]);
  });

  test('cancelling an unknown or finished request has no effect', async () => {
    const user = open();
    await user.ask('tools/call', { name: 'boom' }, 1);
    for (const requestId of [1, 99, undefined, {}]) await user.tell('notifications/cancelled', { requestId });
    expect(await user.ask('ping', undefined, 2)).toEqual(success(2, {}));
  });

  test('a resource read can be cancelled', async () => {
    const door = gate<string>();
    let signal: AbortSignal | undefined;
    const read = (ctx: { signal: AbortSignal }) => {
      signal = ctx.signal;
      return door.pass();
    };
    const user = open({ resources: [{ uri: 'a:b', name: 'r', read }] });
    const reading = user.ask('resources/read', { uri: 'a:b' }, 5);
    await door.reached;
    expect(await user.ask('ping', undefined, 5)).toMatchObject({ error: { code: -32600 } });
    await user.tell('notifications/cancelled', { requestId: 5 });
    expect(await reading).toEqual(failure(5, -32800, 'Request cancelled: cancelled'));
    expect(signal?.aborted).toBe(true);
  });
});

describe('closing', () => {
  test('aborts running calls and answers them immediately', async () => {
    const door = gate();
    let signal: AbortSignal | undefined;
    const slow = tool('slow', '', {}, (_args, ctx) => {
      signal = ctx.signal;
      return door.pass();
    });
    const user = open({ tools: [slow] });
    const call = user.ask('tools/call', { name: 'slow' }, 1);
    await door.reached;
    user.session.close();
    user.session.close();
    expect(await call).toEqual(failure(1, -32603, "server 'calc' is closed"));
    expect(signal?.reason).toEqual(new Error("server 'calc' is closed"));
  });

  test('later requests are rejected and start nothing', async () => {
    let runs = 0;
    const user = open({ tools: [tool('t', '', {}, () => runs++)] });
    user.session.close();
    expect(await user.ask('tools/call', { name: 't' }, 1)).toEqual(
      failure(1, -32603, "server 'calc' is closed"),
    );
    expect(await user.ask('initialize', {}, 2)).toEqual(failure(2, -32603, "server 'calc' is closed"));
    expect(await user.tell('notifications/cancelled', { requestId: 1 })).toBeUndefined();
    expect(runs).toBe(0);
  });

  test('nothing is sent after closing', async () => {
    const door = gate();
    const slow = tool('slow', '', {}, async (_args, { log }) => {
      await door.pass();
      log('info', 'still here');
    });
    const user = open({ tools: [slow], logging: true });
    const call = user.ask('tools/call', { name: 'slow' });
    await door.reached;
    user.session.close();
    await call;
    door.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(user.received).toEqual([]);
  });
});

test('R114 an observer gets start and end of each call with its outcome', async () => {
  const seen: unknown[] = [];
  const observer: CallObserver = {
    start: ({ server, tool: name, ctx }) => {
      const call = `${name}#${ctx.requestId} of ${server}`;
      seen.push(`${call} started`);
      return {
        run: (work) => {
          seen.push(`${call} runs`);
          return work();
        },
        end: (outcome) => seen.push(`${call} ${outcome}`),
      };
    },
  };
  const door = gate();
  const slow = tool('slow', '', {}, () => door.pass());
  const user = open({ tools: [add, boom, slow] }, { observer });
  await user.ask('tools/call', { name: 'add', arguments: { a: 1, b: 1 } }, 1);
  await user.ask('tools/call', { name: 'boom' }, 2);
  const call = user.ask('tools/call', { name: 'slow' }, 3);
  await door.reached;
  await user.tell('notifications/cancelled', { requestId: 3 });
  await call;
  await user.ask('tools/call', { name: 'nope' }, 4);
  expect(seen).toEqual([
    ...['started', 'runs', 'ok'].map((it) => `add#1 of calc ${it}`),
    ...['started', 'runs', 'error'].map((it) => `boom#2 of calc ${it}`),
    ...['started', 'runs', 'cancelled'].map((it) => `slow#3 of calc ${it}`),
  ]);
});
