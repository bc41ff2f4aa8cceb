import { describe, expect, test } from 'vitest';
import type { ServerLog } from '../../../src/mcp/connection/connect-context.ts';
import {
  limiterOf,
  prepareHandlers,
  type RequestHandler,
  RequestLimiter,
  type RequestOrigin,
} from '../../../src/mcp/connection/server-requests.ts';
import { INVALID_PARAMS, RpcMethodError } from '../../../src/protocol/json-rpc.ts';
import { open } from '../support/attempt.ts';
import { rawServer } from '../support/raw-servers.ts';
import { testWorld } from '../support/servers.ts';

describe('server asks', () => {
  /** A server whose tool `ask` sends a request and returns the response; the tool `offered` returns the capabilities. */
  const asking = {
    ...rawServer(`(message, send, greet) => {
    if (message.method === 'initialize') {
      globalThis.offered = message.params.capabilities;
      greet(message);
    }
    const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value ?? null) }] });
    if (message.method === 'tools/call' && message.params.name === 'offered') {
      send({ id: message.id, result: text(globalThis.offered) });
    } else if (message.method === 'tools/call') {
      for (const sent of message.params.arguments.first ?? []) send(sent);
      globalThis.call = message.id;
      if (message.params.arguments.ask) send({ id: 'q', ...message.params.arguments.ask });
      else send({ id: message.id, result: text('done') });
    } else if (message.id === 'q') {
      send({ id: globalThis.call, result: text(message) });
    }
  }`),
    era: 'legacy' as const,
  };

  async function ask(method: string, params: object | undefined, handlers: Record<string, RequestHandler>) {
    const world = testWorld({ clientFeatures: () => ({ capabilities: {}, handlers: handlers }) });
    await using far = await open(asking, world);
    const { content } = await far.connection.callTool('ask', { ask: { method, params } });
    const { jsonrpc: _, id: __, ...answer } = JSON.parse((content as { text: string }[])[0]?.text ?? '');
    return answer;
  }

  const form = {
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { n: { type: 'number', default: 3 } } },
  };
  const accept: RequestHandler = async () => ({ action: 'accept', content: {} });

  describe('what a server asks is answered', () => {
    test.each([
      ['ping', undefined, {}, { result: {} }],
      [
        'roots/list',
        undefined,
        { 'roots/list': async () => ({ roots: [{ uri: 'file:///a' }] }) },
        { result: { roots: [{ uri: 'file:///a' }] } },
      ],
      [
        'elicitation/create',
        form,
        { 'elicitation/create': accept },
        { result: { action: 'accept', content: { n: 3 } } },
      ],
      [
        'sampling/createMessage',
        { messages: [], maxTokens: 5 },
        {
          'sampling/createMessage': async () => ({
            role: 'assistant',
            model: 'm',
            content: { type: 'text', text: 'hi' },
          }),
        },
        { result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } } },
      ],
    ] as [string, object | undefined, Record<string, RequestHandler>, object][])(
      '%s',
      async (method, params, handlers, answer) => {
        expect(await ask(method, params, handlers)).toEqual(answer);
      },
    );
  });

  describe('what cannot be answered is refused', () => {
    const broken: RequestHandler = async () => {
      throw Object.assign(new Error('no user is available'), { data: { password: 'x' } });
    };
    test.each([
      ['a method without a handler', 'roots/list', undefined, {}, -32601],
      ['an unknown method', 'secrets/list', undefined, {}, -32601],
      [
        'an unknown mode',
        'elicitation/create',
        { ...form, mode: 'telepathy' },
        { 'elicitation/create': accept },
        -32602,
      ],
      [
        'a mode that is not offered',
        'elicitation/create',
        { message: 'Go', mode: 'url', url: 'http://h.test/', elicitationId: 'e' },
        { 'elicitation/create': accept },
        -32602,
      ],
      ['a handler that throws', 'roots/list', undefined, { 'roots/list': broken }, -32603],
      [
        'a handler that refuses by itself',
        'roots/list',
        undefined,
        {
          'roots/list': async () => {
            throw new RpcMethodError(INVALID_PARAMS, 'mine');
          },
        },
        -32602,
      ],
    ] as [string, string, object | undefined, Record<string, RequestHandler>, number][])(
      '%s',
      async (_, method, params, handlers, code) => {
        const answer = await ask(method, params, handlers);
        expect(answer).toMatchObject({ error: { code } });
        expect(JSON.stringify(answer)).not.toMatch(/password|\.ts:| {4}at /);
      },
    );
  });

  test('at most 64 questions of one server are worked on at once; the rest is refused', async () => {
    const begun: PromiseWithResolvers<Record<string, unknown>>[] = [];
    const sampling: RequestHandler = () => {
      const one = Promise.withResolvers<Record<string, unknown>>();
      begun.push(one);
      return one.promise;
    };
    const answer = prepareHandlers({ capabilities: {}, handlers: { 'sampling/createMessage': sampling } })
      .handlers['sampling/createMessage'] as RequestHandler;
    const { signal } = new AbortController();
    const asked = Array.from({ length: 100 }, () => answer({}, signal));
    const refused = await Promise.allSettled(asked.slice(64));
    expect(begun).toHaveLength(64);
    expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(asked[64]).rejects.toThrow('too many concurrent requests (limit 64); retry later');
    begun[0]?.resolve({});
    begun[1]?.reject(new Error('no'));
    await Promise.allSettled(asked.slice(0, 2));
    void answer({}, signal);
    void answer({}, signal);
    await expect(answer({}, signal)).rejects.toThrow('limit 64');
    expect(begun).toHaveLength(66);
  });

  describe('only capabilities with a handler are declared', () => {
    test.each([
      ['nothing', {}, {}],
      ['roots', { 'roots/list': accept }, { roots: {} }],
      [
        'forms, whose defaults are filled in',
        { 'elicitation/create': accept },
        { elicitation: { form: { applyDefaults: true } } },
      ],
    ])('%s', async (_, handlers, capabilities) => {
      const offer = { capabilities: { sampling: {} }, handlers };
      await using far = await open(asking, testWorld({ clientFeatures: () => offer }));
      const { content } = await far.connection.callTool('offered', {});
      const { extensions, ...declared } = JSON.parse((content as { text: string }[])[0]?.text ?? '');
      expect(declared).toEqual(capabilities);
      expect(extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} });
    });

    test('one that shows pages only gets no forms', () => {
      const offer = {
        capabilities: { elicitation: { url: {} } },
        handlers: { 'elicitation/create': accept },
      };
      expect(prepareHandlers(offer).capabilities).toEqual({ elicitation: { url: {} } });
    });
  });

  test('notifications reach their listeners, and unknown ones are ignored', async () => {
    const logs: ServerLog[] = [];
    await using far = await open(asking, testWorld({ onLog: (_, entry) => logs.push(entry) }));
    const notices: unknown[] = [];
    const changes: string[] = [];
    far.connection.onNotification?.((method, params) => notices.push([method, params]));
    far.connection.onListChanged((kind) => changes.push(kind));
    far.connection.onListChanged(() => {
      throw new Error('a bad listener');
    });
    const first = [
      ...['tools', 'prompts', 'resources'].map((list) => ({ method: `notifications/${list}/list_changed` })),
      { method: 'notifications/message', params: { level: 'error', logger: 'db', data: { n: 1 } } },
      { method: 'notifications/message', params: {} },
      { method: 'selection_changed', params: { text: 'x' } },
      { method: 'notifications/elicitation/complete', params: { elicitationId: 'e' } },
      { method: 'notifications/progress', params: { progressToken: 99, progress: 1 } },
      { method: 'notifications/cancelled', params: { requestId: 5 } },
      { id: 4711, result: {} },
      { id: null, error: { code: -32700, message: 'parse' } },
    ];
    expect(await far.connection.callTool('say', { first })).toMatchObject({ content: [{ text: '"done"' }] });
    expect(logs).toEqual([
      { level: 'error', logger: 'db', data: { n: 1 } },
      { level: 'info', data: undefined },
    ]);
    expect(changes).toEqual(['tools', 'prompts', 'resources']);
    expect(notices).toContainEqual(['selection_changed', { text: 'x' }]);
  });
});

describe('question limiter', () => {
  const never = new AbortController().signal;

  function limited(method: string, context: RequestOrigin) {
    const clock = { now: 0 };
    const reported: string[] = [];
    const limiter = new RequestLimiter(
      (message) => reported.push(message),
      () => clock.now,
    );
    const open: PromiseWithResolvers<Record<string, unknown>>[] = [];
    const answer: RequestHandler = () => {
      const asked = Promise.withResolvers<Record<string, unknown>>();
      open.push(asked);
      return asked.promise;
    };
    const ask = limiter.limited(method, answer, () => context);
    return { clock, reported, open, ask: () => ask({}, never) };
  }

  describe('elicitations without a call', () => {
    test('of 2,000 at once one is asked, the others are canceled, and few lines say so', async () => {
      const { ask, open, reported } = limited('elicitation/create', 'unsolicited');
      const asked = Array.from({ length: 2000 }, ask);
      expect(open).toHaveLength(1);
      expect(await Promise.all(asked.slice(1))).toEqual(Array(1999).fill({ action: 'cancel' }));
      expect(reported).toHaveLength(4);
      expect(reported[0]).toBe(
        'too many elicitation requests: 1 refused (limit outside of calls: 1 at once, 5 per minute)',
      );
      open[0]?.resolve({ action: 'accept' });
      expect(await asked[0]).toEqual({ action: 'accept' });
    });

    test('one after the other: five in a minute, then again after it', async () => {
      const { ask, open, clock } = limited('elicitation/create', 'unsolicited');
      for (let n = 0; n < 20; n++) {
        const asked = ask();
        open.at(-1)?.resolve({ action: 'accept' });
        await asked;
      }
      expect(open).toHaveLength(5);
      clock.now = 60_000;
      void ask();
      expect(open).toHaveLength(6);
    });
  });

  test.each(['decline', 'cancel'])(
    'after a %s no other comes without a call for a minute',
    async (action) => {
      const { ask, open, clock } = limited('elicitation/create', 'unsolicited');
      const first = ask();
      open[0]?.resolve({ action });
      await first;
      clock.now = 59_999;
      expect(await ask()).toEqual({ action: 'cancel' });
      clock.now = 60_000;
      void ask();
      expect(open).toHaveLength(2);
    },
  );

  test('a refusal during a call does not keep the next question away', async () => {
    const { ask, open } = limited('elicitation/create', 'call');
    const first = ask();
    open[0]?.resolve({ action: 'decline' });
    await first;
    void ask();
    expect(open).toHaveLength(2);
  });

  test('during a call a server may ask several things at once, and many in a row', async () => {
    const { ask, open } = limited('elicitation/create', 'call');
    const asked = Array.from({ length: 2000 }, ask);
    expect(open).toHaveLength(16);
    for (const it of open.splice(0)) it.resolve({ action: 'accept' });
    await Promise.all(asked);
    for (let n = 0; n < 20; n++) {
      const next = ask();
      open.at(-1)?.resolve({ action: 'accept' });
      expect(await next).toEqual({ action: 'accept' });
    }
  });

  test('a sampling request above the limit fails with the reason', async () => {
    const { ask, open } = limited('sampling/createMessage', 'unsolicited');
    const asked = Array.from({ length: 50 }, ask);
    expect(open).toHaveLength(2);
    await expect(asked[2]).rejects.toThrow('too many sampling requests');
    const rest = await Promise.allSettled(asked.slice(3));
    expect(rest.every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('an answer that fails is not open any more', async () => {
    const { ask, open } = limited('elicitation/create', 'unsolicited');
    const first = ask();
    open[0]?.reject(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    void ask();
    expect(open).toHaveLength(2);
  });

  test('roots are not limited here', () => {
    const { ask, open } = limited('roots/list', 'unsolicited');
    Array.from({ length: 100 }, ask);
    expect(open).toHaveLength(100);
  });

  test('a server keeps its limits when it is started again; others have their own', () => {
    const world = { requestLimiters: new Map() };
    // Each connection attempt has its own copy of the context.
    expect(limiterOf({ ...world }, 'a')).toBe(limiterOf({ ...world }, 'a'));
    expect(limiterOf(world, 'a')).not.toBe(limiterOf(world, 'b'));
    expect(limiterOf({}, 'a')).not.toBe(limiterOf(world, 'a'));
  });
});
