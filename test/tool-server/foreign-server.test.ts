import { describe, expect, test } from 'vitest';
import type { RpcMessage, RpcRequest } from '../../src/protocol/json-rpc.ts';
import {
  type ForeignServer,
  isForeignServer,
  Multiplexer,
  openForeignSession,
  ServerRequests,
  type SessionUser,
} from '../../src/tool-server/foreign-server.ts';
import type { Transport } from '../../src/tool-server/serving/serve.ts';
import { FOREIGN_VERSIONS } from '../support/foreign-servers.ts';
import { gate } from '../support/gate.ts';
import { type RpcUser, rpcUser } from './rpc-user.ts';

describe('foreign server', () => {
  const CLIENT = {
    protocolVersion: '2025-06-18',
    capabilities: { roots: {} },
    clientInfo: { name: 'c', version: '1' },
  };
  const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
  const success = (id: number | string, result: object) => ({ result, jsonrpc: '2.0', id });
  const failure = (id: number | string, code: number, message: unknown) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message },
  });

  function attach(server: unknown, key = 'hand'): RpcUser {
    return rpcUser((port) => openForeignSession(server as ForeignServer, port), { server: key });
  }

  async function handshake(server: unknown, key?: string): Promise<RpcUser> {
    const user = attach(server, key);
    await user.ask('initialize', CLIENT, 0);
    await user.tell('notifications/initialized');
    return user;
  }

  const call = (user: RpcUser, name: string, args: object, id: number | string, meta?: object) =>
    user.ask('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, id);

  describe.each(FOREIGN_VERSIONS)('%s', (_version, make) => {
    test('handshake, list and call work unchanged', async () => {
      const { server } = make();
      const user = attach(server);
      expect(await user.ask('initialize', CLIENT, 0)).toMatchObject({
        id: 0,
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true }, logging: {} },
          serverInfo: { name: 'by-hand', version: '9.9.9' },
        },
      });
      expect(await user.tell('notifications/initialized')).toBeUndefined();
      const listed = (await user.ask('tools/list', undefined, 1)) as
        | { result: { tools: { name: string }[] } }
        | undefined;
      expect(listed?.result.tools.map((it) => it.name)).toEqual(['add', 'wait', 'count', 'roots', 'request']);
      expect(await call(user, 'add', { a: 2, b: 40 }, 'x')).toEqual(success('x', text('42')));
      expect(await user.ask('ping', undefined, 2)).toEqual(success(2, {}));
      expect(await user.ask('nope', {}, 3)).toMatchObject(failure(3, -32601, expect.any(String)));
    });

    test('concurrent attachments with the same ids get their own responses', async () => {
      const { server, doors } = make();
      const users = [await handshake(server, 'one'), await handshake(server, 'two')] as const;
      const calls = [
        call(users[0], 'wait', { door: 'left' }, 1),
        call(users[1], 'wait', { door: 'right' }, 1),
      ];
      await Promise.all([doors.left.reached, doors.right.reached]);
      doors.right.open('right');
      doors.left.open('left');
      expect(await Promise.all(calls)).toEqual([success(1, text('left')), success(1, text('right'))]);
    });

    test('every attachment is initialized, the server only once', async () => {
      const { server, log } = make();
      const [first, second] = [attach(server), attach(server)];
      const answers = await Promise.all([
        first.ask('initialize', CLIENT, 0),
        second.ask('initialize', CLIENT, 'init'),
      ]);
      expect(answers[1]).toEqual({ ...answers[0], id: 'init' });
      for (const user of [first, second]) await user.tell('notifications/initialized');
      expect(await first.ask('initialize', CLIENT, 0)).toEqual(answers[0]);
      expect(log).toEqual(['initialized']);
    });

    test('a call without any handshake works', async () => {
      expect(await call(attach(make().server), 'add', { a: 1, b: 2 }, 0)).toEqual(success(0, text('3')));
    });

    test('progress reaches only the caller, with its own token', async () => {
      const { server } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const progress = (progressToken: unknown) =>
        [1, 2].map((it) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: it },
        }));
      await call(one, 'count', {}, 1, { progressToken: 'mine' });
      await call(other, 'count', {}, 1, { progressToken: 0 });
      expect(one.received).toEqual(progress('mine'));
      expect(other.received).toEqual(progress(0));
    });

    test('other members of _meta reach the tool unchanged', async () => {
      const user = await handshake(make().server);
      const answer = await call(user, 'request', {}, 5, { 'claudecode/toolUseId': 'toolu_1' });
      expect(answer).toMatchObject({
        result: { content: [{ text: expect.stringContaining('"meta":{"claudecode/toolUseId":"toolu_1"}') }] },
      });
    });

    test('cancelling ends one call, answers it once, and the server continues', async () => {
      const { server, doors, log } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const calls = [call(one, 'wait', { door: 'left' }, 7), call(other, 'wait', { door: 'right' }, 7)];
      await Promise.all([doors.left.reached, doors.right.reached]);
      await one.tell('notifications/cancelled', { requestId: 7, reason: 'enough' });
      expect(await calls[0]).toEqual(failure(7, -32800, 'Request cancelled: enough'));
      doors.left.open('late');
      doors.right.open('in time');
      expect(await calls[1]).toEqual(success(7, text('in time')));
      expect(log).toEqual(['initialized', 'left aborted']);
      for (const requestId of [7, 99, undefined]) await one.tell('notifications/cancelled', { requestId });
      expect(await call(one, 'add', { a: 1, b: 1 }, 7)).toEqual(success(7, text('2')));
    });

    test('a duplicate id is rejected, also while the server is starting', async () => {
      const { server, doors } = make();
      const user = attach(server);
      const calls = [call(user, 'wait', { door: 'left' }, 1), call(user, 'wait', { door: 'left' }, 1)];
      expect(await calls[1]).toEqual(failure(1, -32600, 'a request with id 1 is already in flight'));
      doors.left.open('done');
      expect(await calls[0]).toEqual(success(1, text('done')));
    });

    test('a request of the server goes to the attachment whose call is running', async () => {
      const { server } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const calls = [call(one, 'roots', {}, 1), call(other, 'roots', {}, 1)];
      for (const [user, uri] of [
        [other, 'file:///other'],
        [one, 'file:///one'],
      ] as const) {
        const asked = (await user.next()) as { id: number };
        expect(asked).toMatchObject({ jsonrpc: '2.0', method: 'roots/list' });
        const stranger = user === one ? other : one;
        await stranger.session.receive({
          jsonrpc: '2.0',
          id: asked.id,
          result: { roots: [{ uri: 'file:///wrong' }] },
        });
        await user.session.receive({ jsonrpc: '2.0', id: asked.id, result: { roots: [{ uri }] } });
      }
      expect(await Promise.all(calls)).toEqual([
        success(1, text('file:///one')),
        success(1, text('file:///other')),
      ]);
    });

    test('an error response to such a request reaches the tool', async () => {
      const { server, log } = make();
      const user = await handshake(server);
      const running = call(user, 'roots', {}, 1);
      const asked = (await user.next()) as { id: number };
      await user.session.receive(failure(asked.id, -32601, 'Method not found'));
      expect(await running).toMatchObject({ result: { isError: true } });
      expect(log).toEqual(['initialized', expect.stringContaining('Method not found')]);
    });

    test('a pending request fails immediately when its user leaves', async () => {
      const { server, log } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const running = call(one, 'roots', {}, 1);
      await one.next();
      one.session.close();
      expect(await running).toEqual(failure(1, -32603, "server 'hand' is closed"));
      expect(await call(other, 'add', { a: 1, b: 1 }, 2)).toEqual(success(2, text('2')));
      expect(log).toEqual(['initialized', expect.any(String)]);
    });

    test('a cancelled request of the server is cancelled at its user', async () => {
      const { server } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const running = call(one, 'roots', {}, 1);
      const asked = (await one.next()) as { id: number };
      await one.tell('notifications/cancelled', { requestId: 1 });
      expect(await running).toMatchObject(failure(1, -32800, expect.any(String)));
      expect(await one.next()).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: asked.id },
      });
      expect(other.received).toEqual([]);
    });

    test('notifications of the server go to all users', async () => {
      const { server } = make();
      const users = [await handshake(server), await handshake(server)];
      server.sendToolListChanged();
      for (const user of users) {
        expect(await user.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      }
    });

    test('closing one attachment ends only its calls', async () => {
      const { server, doors, log } = make();
      const [one, other] = [await handshake(server), await handshake(server)];
      const calls = [call(one, 'wait', { door: 'left' }, 1), call(other, 'wait', { door: 'right' }, 1)];
      await Promise.all([doors.left.reached, doors.right.reached]);
      one.session.close();
      one.session.close();
      expect(await calls[0]).toEqual(failure(1, -32603, "server 'hand' is closed"));
      doors.right.open('done');
      expect(await calls[1]).toEqual(success(1, text('done')));
      expect(log).toEqual(['initialized', 'left aborted']);
    });

    test('requests after closing are rejected and start nothing', async () => {
      const { server, log } = make();
      const user = attach(server);
      user.session.close();
      expect(await user.ask('initialize', CLIENT, 0)).toEqual(failure(0, -32603, "server 'hand' is closed"));
      expect(await user.tell('notifications/initialized')).toBeUndefined();
      expect(await user.session.receive({ id: 0, result: {} })).toBeUndefined();
      expect([server.isConnected(), log]).toEqual([false, []]);
    });

    test('the instance is released by its last user and can be attached again', async () => {
      const { server, log } = make();
      const users = [await handshake(server), await handshake(server)];
      users[0]?.session.close();
      expect(server.isConnected()).toBe(true);
      users[1]?.session.close();
      expect(server.isConnected()).toBe(false);
      const again = await handshake(server);
      expect(await call(again, 'add', { a: 1, b: 1 }, 1)).toEqual(success(1, text('2')));
      expect(log).toEqual(['initialized', 'closed', 'initialized']);
    });

    test('a server that stops stays stopped; a new initialize starts it again', async () => {
      const { server, doors } = make();
      const user = await handshake(server);
      const running = call(user, 'wait', { door: 'left' }, 1);
      await doors.left.reached;
      await server.close();
      expect(await running).toEqual(failure(1, -32603, "server 'hand' stopped"));
      expect(await call(user, 'add', { a: 1, b: 1 }, 2)).toEqual(failure(2, -32603, "server 'hand' stopped"));
      expect(await user.tell('notifications/initialized')).toBeUndefined();
      expect(await user.ask('initialize', CLIENT, 3)).toMatchObject({
        id: 3,
        result: { serverInfo: { name: 'by-hand' } },
      });
      expect(await call(user, 'add', { a: 1, b: 1 }, 4)).toEqual(success(4, text('2')));
    });

    test('an instance that is connected elsewhere is an error until it is free', async () => {
      const { server } = make();
      const elsewhere: Transport = { start: async () => {}, send: async () => {}, close: async () => {} };
      await server.connect(elsewhere as never);
      const user = attach(server);
      const refused = failure(
        1,
        -32603,
        expect.stringMatching(/^server 'hand' did not start: .*already connected/i),
      );
      expect(await user.ask('initialize', CLIENT, 1)).toEqual(refused);
      expect(await user.ask('tools/list', undefined, 1)).toEqual(refused);
      elsewhere.onclose?.();
      expect(await user.ask('initialize', CLIENT, 2)).toMatchObject({ id: 2, result: {} });
    });

    test.each([
      ['no jsonrpc member', { id: 1, method: 'ping' }, success(1, {})],
      ['unknown members', { jsonrpc: '2.0', id: 1, method: 'ping', more: true }, success(1, {})],
      [
        'a _meta that is no object',
        { id: 1, method: 'ping', params: { _meta: 5 } },
        failure(1, -32600, expect.any(String)),
      ],
      [
        'params that are a list',
        { id: 1, method: 'ping', params: [] },
        failure(1, -32600, expect.any(String)),
      ],
      ['no method', { id: 1 }, failure(1, -32600, expect.any(String))],
      ['an id that is none', { id: 2.5, method: 'ping' }, undefined],
    ])('a message with %s is answered and never hangs', async (_name, message, expected) => {
      const user = await handshake(make().server);
      expect(await user.session.receive(message)).toEqual(expected);
      expect(await user.ask('ping', undefined, 2)).toEqual(success(2, {}));
    });

    test('R109 a hundred calls of ten attachments get their own responses', async () => {
      const { server } = make();
      const users = await Promise.all(Array.from({ length: 10 }, () => handshake(server)));
      const answers = users.map((user, n) =>
        Promise.all(Array.from({ length: 10 }, (_, id) => call(user, 'add', { a: n * 100, b: id }, id))),
      );
      expect(await Promise.all(answers)).toEqual(
        users.map((_user, n) =>
          Array.from({ length: 10 }, (_, id) => success(id, text(String(n * 100 + id)))),
        ),
      );
    });
  });

  describe('anything that connects to a transport', () => {
    test('a server whose connect() fails is answered with an error', async () => {
      const broken: ForeignServer[] = [
        { connect: () => Promise.reject(new Error('no database')), close: async () => {} },
        {
          connect: () => {
            throw new Error('no database');
          },
          close: async () => {},
        },
      ];
      for (const server of broken) {
        const user = attach(server);
        expect(await user.tell('notifications/initialized')).toBeUndefined();
        expect(await user.ask('ping', undefined, 1)).toEqual(
          failure(1, -32603, "server 'hand' did not start: no database"),
        );
        expect(await user.tell('notifications/initialized')).toBeUndefined();
      }
    });

    test('a user that leaves during the start is answered, and the others are served', async () => {
      const door = gate();
      const server: ForeignServer = {
        async connect(transport: Transport) {
          transport.onmessage = ((message: { id: number }) => {
            void transport.send({ jsonrpc: '2.0', id: message.id, result: { served: true } });
          }) as never;
          await door.pass();
        },
        close: async () => {},
      };
      const [one, other] = [attach(server), attach(server)];
      const asks = [one.ask('initialize', {}, 1), other.ask('initialize', {}, 2)];
      await door.reached;
      one.session.close();
      door.open();
      expect(await Promise.all(asks)).toEqual([
        failure(1, -32603, "server 'hand' is closed"),
        success(2, { served: true }),
      ]);
    });

    test('unexpected responses are dropped', async () => {
      let transport: Transport | undefined;
      const server: ForeignServer = {
        connect: async (given: Transport) => {
          transport = given;
        },
        close: async () => {},
      };
      const user = attach(server);
      const asked = user.ask('ping', undefined, 'a');
      await new Promise((resolve) => setImmediate(resolve));
      for (const message of [{ id: 99, result: {} }, { nonsense: true }, null])
        await transport?.send(message as never);
      await transport?.send({ jsonrpc: '2.0', id: 0, result: { yes: 1 } });
      await transport?.send({ jsonrpc: '2.0', id: 0, result: { twice: 1 } });
      expect(await asked).toEqual(success('a', { yes: 1 }));
      expect(user.received).toEqual([]);
    });

    test.each([
      [{ connect: () => {} }, true],
      [{ connect: 5 }, false],
      [{}, false],
      [null, false],
      [() => {}, false],
    ])('%o is such a server: %s', (value, expected) => {
      expect(isForeignServer(value)).toBe(expected);
    });
  });
});

describe('multiplexer', () => {
  /** A server that records its messages and answers when the test tells it to. */
  function silentServer() {
    const told: RpcRequest[] = [];
    let transport: Transport | undefined;
    const multiplexer = new Multiplexer(async (given) => {
      transport = given;
      given.onmessage = ((message: RpcRequest) => told.push(message)) as never;
    });
    const say = (message: object) => transport?.send({ jsonrpc: '2.0', ...message } as never);
    return { multiplexer, told, say };
  }

  const user = () => ({ port: { server: 'hand', assigns: {}, send: () => {} } });
  const request = (id: number, method: string) => ({ jsonrpc: '2.0' as const, id, method });
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  test('the shared initialize survives the user that sent it', async () => {
    const { multiplexer, told, say } = silentServer();
    const [one, other] = [user(), user()];
    for (const it of [one, other]) multiplexer.attach(it);
    const asks = [
      multiplexer.request(one, request(1, 'initialize')),
      multiplexer.request(other, request(2, 'initialize')),
    ];
    await settle();
    multiplexer.detach(one);
    expect(told).toEqual([request(0, 'initialize')]);
    await say({ id: 0, result: { ok: true } });
    expect(await asks[1]).toEqual({ jsonrpc: '2.0', id: 2, result: { ok: true } });
  });

  test('a rejected initialize is sent again next time', async () => {
    const { multiplexer, told, say } = silentServer();
    const one = user();
    multiplexer.attach(one);
    const refused = multiplexer.request(one, request(1, 'initialize'));
    await settle();
    await say({ id: 0, error: { code: -32602, message: 'no' } });
    expect(await refused).toMatchObject({ id: 1, error: { code: -32602 } });
    const served = multiplexer.request(one, request(2, 'initialize'));
    await settle();
    await say({ id: 1, result: {} });
    expect(await served).toMatchObject({ id: 2, result: {} });
    expect(told.map((it) => it.method)).toEqual(['initialize', 'initialize']);
  });

  test('messages of one user reach the server in order', async () => {
    const { multiplexer, told } = silentServer();
    const one = user();
    multiplexer.attach(one);
    void multiplexer.request(one, request(1, 'tools/list'));
    void multiplexer.notification(one, 'notifications/initialized', {});
    void multiplexer.request(one, request(2, 'tools/call'));
    void multiplexer.notification(one, 'notifications/roots/list_changed', {});
    await settle();
    expect(told.map((it) => it.method)).toEqual([
      'tools/list',
      'notifications/initialized',
      'tools/call',
      'notifications/roots/list_changed',
    ]);
  });
});

describe('requests of the server', () => {
  type Listener = SessionUser & { heard: RpcMessage[] };

  function user(): Listener {
    const heard: RpcMessage[] = [];
    return { heard, port: { server: 'hand', assigns: {}, send: (message) => heard.push(message) } };
  }

  const roots = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'roots/list' });

  test('each request has a unique id, and only its user can answer it, once', () => {
    const questions = new ServerRequests();
    const [one, other] = [user(), user()];
    questions.ask(one, roots(7));
    questions.ask(other, roots(8));
    expect([one.heard, other.heard]).toEqual([[roots(0)], [roots(1)]]);
    expect(questions.answer(other, 0)).toBeUndefined();
    expect(questions.answer(one, 0)).toBe(7);
    expect(questions.answer(one, 0)).toBeUndefined();
    expect(questions.answer(other, 1)).toBe(8);
  });

  test('a cancellation is forwarded to the user of the request; an unknown one is ignored', () => {
    const questions = new ServerRequests();
    const [one, other] = [user(), user()];
    questions.ask(one, roots(7));
    questions.takeBack({ requestId: 7, reason: 'late' });
    questions.takeBack({ requestId: 7 });
    expect(one.heard[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 0, reason: 'late' },
    });
    expect([one.heard.length, other.heard, questions.answer(one, 0)]).toEqual([2, [], undefined]);
  });

  test('a leaving user releases only its own requests', () => {
    const questions = new ServerRequests();
    const [one, other] = [user(), user()];
    questions.ask(one, roots(7));
    questions.ask(other, roots(8));
    questions.ask(one, roots(9));
    expect(questions.leave(one)).toEqual([7, 9]);
    expect(questions.leave(one)).toEqual([]);
    questions.clear();
    expect(questions.answer(other, 1)).toBeUndefined();
  });
});
