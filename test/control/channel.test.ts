import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ChannelHandlers,
  ControlChannel,
  NO_REPLY,
  type Reply,
  type ServedRequest,
} from '../../src/control/channel.ts';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { SdkError } from '../../src/protocol/sdk-error.ts';
import { gate } from '../support/gate.ts';
import { FakeLink } from './fake-link.ts';

type Sent = { request_id: string; request: Frame };

/** A channel over a fake link; requests are echoed unless the test passes another handler. */
function open(handlers: Partial<ChannelHandlers> = {}) {
  const link = new FakeLink();
  const messages: Frame[] = [];
  const faults: string[] = [];
  const channel = new ControlChannel(link, {
    request: async (subtype, body) => ({ subtype, body }),
    message: (message) => messages.push(message),
    fault: (reason) => faults.push(reason),
    ...handlers,
  });
  return { link, channel, messages, faults };
}

/** Waits until all pending work of this turn of the event loop has run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const success = (request_id: string, response?: Frame) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id, ...(response && { response }) },
});
const failure = (request_id: string, error: unknown, error_code?: string) => ({
  type: 'control_response',
  response: { subtype: 'error', request_id, error, ...(error_code && { error_code }) },
});

describe('sending requests', () => {
  test('requests have unique ids, and responses in any order reach their request', async () => {
    const { link, channel } = open();
    const asks = ['a', 'b', 'c'].map((subtype) => channel.request({ subtype, n: 1 }));
    const sent = link.sent as Sent[];
    expect(new Set(sent.map((it) => it.request_id)).size).toBe(3);
    expect(sent).toEqual(
      ['a', 'b', 'c'].map((subtype) => ({
        request_id: expect.any(String),
        type: 'control_request',
        request: { subtype, n: 1 },
      })),
    );
    for (const { request_id, request } of [...sent].reverse())
      link.say(success(request_id, { to: request.subtype }));
    expect(await Promise.all(asks)).toMatchObject([
      { response: { to: 'a' }, extra: {} },
      { response: { to: 'b' }, extra: {} },
      { response: { to: 'c' }, extra: {} },
    ]);
  });

  test('responses to any number of requests can arrive in any order', async () => {
    const order = fc.integer({ min: 1, max: 12 }).chain((n) => {
      const ids = Array.from({ length: n }, (_, index) => index);
      return fc.shuffledSubarray(ids, { minLength: n, maxLength: n });
    });
    await fc.assert(
      fc.asyncProperty(order, async (indexes) => {
        const { link, channel } = open();
        const asks = indexes.map(() => channel.request({ subtype: 'x' }));
        for (const index of indexes) link.say(success((link.sent[index] as Sent).request_id, { index }));
        expect((await Promise.all(asks)).map((it) => it.response.index)).toEqual([...indexes.keys()]);
      }),
      { numRuns: 30 },
    );
  });

  test("a failure response is an SdkError with the agent's message and code", async () => {
    const { link, channel } = open();
    const ask = channel.request({ subtype: 'x' });
    link.say(failure((link.sent[0] as Sent).request_id, 'Server not found: nope', 'not_found'));
    await expect(ask).rejects.toMatchObject({
      code: 'control-failed',
      message: 'Server not found: nope',
      errorCode: 'not_found',
    });
  });

  test('unexpected and duplicate responses are ignored', async () => {
    const { link, channel, messages } = open();
    const ask = channel.request({ subtype: 'x' });
    const { request_id } = link.sent[0] as Sent;
    link.say(success('never asked'));
    link.say(success(request_id, { n: 1 }));
    link.say(success(request_id, { n: 2 }));
    expect(await ask).toMatchObject({ response: { n: 1 } });
    expect(messages).toEqual([]);
  });

  test('other members of a response are passed on', async () => {
    const { link, channel } = open();
    const ask = channel.request({ subtype: 'initialize' });
    const { request_id } = link.sent[0] as Sent;
    link.say({
      type: 'control_response',
      response: { subtype: 'success', request_id, response: { a: 1 }, pending_permission_requests: [1] },
    });
    expect(await ask).toMatchObject({ response: { a: 1 }, extra: { pending_permission_requests: [1] } });
  });

  test('an abort rejects with its reason and sends a cancel frame; a late response is ignored', async () => {
    const { link, channel } = open();
    const controller = new AbortController();
    const ask = channel.request({ subtype: 'x' }, { signal: controller.signal });
    const { request_id } = link.sent[0] as Sent;
    controller.abort(new Error('enough'));
    await expect(ask).rejects.toThrow('enough');
    link.say(success(request_id));
    await settle();
    expect(link.sent.slice(1)).toEqual([{ type: 'control_cancel_request', request_id }]);
  });

  test('an abort after the response sends nothing', async () => {
    const { link, channel } = open();
    const controller = new AbortController();
    const ask = channel.request({ subtype: 'x' }, { signal: controller.signal });
    link.say(success((link.sent[0] as Sent).request_id));
    await ask;
    controller.abort();
    expect(link.sent).toHaveLength(1);
  });

  test('a request that is already aborted is not sent', async () => {
    const { link, channel } = open();
    const signal = AbortSignal.abort(new Error('early'));
    await expect(channel.request({ subtype: 'x' }, { signal })).rejects.toThrow('early');
    expect(link.sent).toEqual([]);
  });

  test('a frame that is not serializable is rejected, and the channel continues', async () => {
    const { link, channel, faults } = open();
    await expect(channel.request({ subtype: 'x', n: 1n })).rejects.toMatchObject({ code: 'unsendable' });
    channel.post({ subtype: 'mcp_message', n: 1n });
    expect(faults).toEqual([expect.stringContaining('cannot be serialized as JSON')]);
    const ask = channel.request({ subtype: 'y' });
    link.say(success((link.sent[0] as Sent).request_id));
    await ask;
  });

  test('a request that the link cannot send is rejected', async () => {
    const { link, channel } = open();
    link.fill().break(new Error('EPIPE'));
    await expect(channel.request({ subtype: 'x' })).rejects.toMatchObject({
      code: 'closed',
      message: 'The agent no longer accepts input: EPIPE',
    });
  });

  test('a link error rejects the request with its own error', async () => {
    const { link, channel } = open();
    const fault = new SdkError('process-exited', 'The agent process exited with code 1');
    link.fill().break(fault);
    await expect(channel.request({ subtype: 'x' })).rejects.toBe(fault);
  });

  test('a posted request has a uuid and the official order of members', async () => {
    const { link, channel } = open();
    channel.post({ subtype: 'mcp_message', server_name: 'calc', message: {} });
    expect(JSON.stringify(link.sent[0])).toMatch(
      /^\{"type":"control_request","request_id":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}","request":\{"subtype":"mcp_message","server_name":"calc","message":\{\}\}\}$/,
    );
    link.fill().break(new Error('EPIPE'));
    channel.post({ subtype: 'mcp_message' });
    await settle();
  });
});

describe('a time limit', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('rejects, sends a cancel frame and ignores a late response', async () => {
    const { link, channel } = open();
    const ask = channel.request({ subtype: 'initialize' }, { timeoutMs: 60_000 });
    const { request_id } = link.sent[0] as Sent;
    vi.advanceTimersByTime(59_999);
    expect(link.sent).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await expect(ask).rejects.toMatchObject({
      code: 'timeout',
      message: 'The agent did not answer "initialize" within 60000 ms',
    });
    link.say(success(request_id));
    await settle();
    expect(link.sent.slice(1)).toEqual([{ type: 'control_cancel_request', request_id }]);
  });

  test('leaves no timer behind', async () => {
    const { link, channel } = open();
    const answered = channel.request({ subtype: 'a' }, { timeoutMs: 1_000 });
    link.say(success((link.sent[0] as Sent).request_id));
    await answered;
    const controller = new AbortController();
    const aborted = channel.request({ subtype: 'b' }, { timeoutMs: 1_000, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const orphaned = channel.request({ subtype: 'c' }, { timeoutMs: 1_000 });
    link.frames.end();
    await expect(orphaned).rejects.toMatchObject({ code: 'closed' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([Infinity, 2 ** 40])('of %d ms does not fire immediately', async (timeoutMs) => {
    const { link, channel } = open();
    const ask = channel.request({ subtype: 'x' }, { timeoutMs });
    vi.advanceTimersByTime(100_000_000);
    link.say(success((link.sent[0] as Sent).request_id));
    await ask;
  });
});

describe('serving', () => {
  test('R49 the return value of a handler is the response; undefined is an empty one', async () => {
    const { link } = open({ request: async (subtype) => (subtype === 'bare' ? undefined : { subtype }) });
    link.ask('r1', { subtype: 'hook_callback' });
    link.ask('r2', { subtype: 'bare' });
    await settle();
    expect(link.sent).toEqual([success('r1', { subtype: 'hook_callback' }), success('r2')]);
  });

  test.each<[string, ChannelHandlers['request'], unknown]>([
    ['rejects', async () => Promise.reject(new Error('exploded')), failure('r1', 'exploded')],
    [
      'throws',
      () => {
        throw new Error('exploded');
      },
      failure('r1', 'exploded'),
    ],
    ['throws a text', () => Promise.reject('plain'), failure('r1', 'plain')],
    [
      'throws something unprintable',
      () => Promise.reject(Object.create(null, { toJSON: { value: () => undefined } })),
      failure('r1', 'an unprintable object'),
    ],
    [
      'throws an error with a code of the protocol',
      () =>
        Promise.reject(
          new SdkError('control-failed', 'Unsupported control request subtype: x', {
            errorCode: 'unsupported_request',
          }),
        ),
      failure('r1', 'Unsupported control request subtype: x', 'unsupported_request'),
    ],
  ])('a handler that %s sends a failure, and the channel continues', async (_how, request, expected) => {
    const { link, channel } = open({ request });
    link.ask('r1', { subtype: 'x' });
    await settle();
    expect(link.sent).toEqual([expected]);
    const ask = channel.request({ subtype: 'y' });
    link.say(success((link.sent[1] as Sent).request_id));
    await ask;
  });

  test('R55 C20 requests are served concurrently and answered when they finish', async () => {
    const doors: Record<string, ReturnType<typeof gate<Frame>>> = { slow: gate(), quick: gate() };
    const { link } = open({ request: (subtype) => doors[subtype]?.pass() as Promise<Frame> });
    link.ask('r1', { subtype: 'slow' });
    link.ask('r2', { subtype: 'quick' });
    await Promise.all([doors.slow?.reached, doors.quick?.reached]);
    doors.quick?.open({ n: 2 });
    await settle();
    doors.slow?.open({ n: 1 });
    await settle();
    expect(link.sent).toEqual([success('r2', { n: 2 }), success('r1', { n: 1 })]);
  });

  test('a duplicate of a pending request is ignored', async () => {
    const door = gate<Frame>();
    let served = 0;
    const { link, channel } = open({
      request: () => {
        served++;
        return door.pass();
      },
    });
    link.ask('r1', { subtype: 'can_use_tool' });
    link.ask('r1', { subtype: 'can_use_tool' });
    await door.reached;
    channel.redeliver({ type: 'control_request', request_id: 'r1', request: { subtype: 'can_use_tool' } });
    channel.redeliver({ type: 'control_request', request_id: 'r2', request: { subtype: 'can_use_tool' } });
    door.open({ ok: true });
    await settle();
    expect(served).toBe(2);
    expect(link.sent).toEqual([success('r1', { ok: true }), success('r2', { ok: true })]);
  });

  test('NO_REPLY sends no response', async () => {
    const { link } = open({ request: async () => NO_REPLY as Reply });
    link.ask('r1', { subtype: 'x' });
    await settle();
    expect(link.sent).toEqual([]);
  });

  test('C31 a cancelled request aborts its handler and gets no response', async () => {
    const door = gate<Frame>();
    let served: ServedRequest | undefined;
    const { link } = open({
      request: (_subtype, _body, request) => {
        served = request;
        return door.pass();
      },
    });
    link.ask('r1', { subtype: 'hook_callback' });
    await door.reached;
    expect([served?.id, served?.signal.aborted]).toEqual(['r1', false]);
    link.say({ type: 'control_cancel_request', request_id: 'r1' });
    await settle();
    expect(served?.signal.reason).toMatchObject({
      name: 'AbortError',
      message: 'The agent cancelled its request',
    });
    door.open({});
    await settle();
    expect(link.sent).toEqual([]);
  });

  test('a signal requested after the cancellation is aborted', async () => {
    const door = gate();
    const aborted = Promise.withResolvers<boolean>();
    const { link } = open({
      request: async (_subtype, _body, request) => {
        await door.pass();
        aborted.resolve(request.signal.aborted);
        return {};
      },
    });
    link.ask('r1', { subtype: 'x' });
    await door.reached;
    link.say({ type: 'control_cancel_request', request_id: 'r1' });
    await settle();
    door.open();
    expect(await aborted.promise).toBe(true);
  });

  test('cancelling an unknown or answered request has no effect, and its id can be reused', async () => {
    const { link } = open();
    link.say({ type: 'control_cancel_request', request_id: 'r9' });
    link.ask('r1', { subtype: 'x' });
    await settle();
    link.say({ type: 'control_cancel_request', request_id: 'r1' });
    link.ask('r1', { subtype: 'y' });
    await settle();
    expect(link.sent).toEqual([
      success('r1', { subtype: 'x', body: { subtype: 'x' } }),
      success('r1', { subtype: 'y', body: { subtype: 'y' } }),
    ]);
  });

  test('after a cancelled request is sent again, only the new one is answered', async () => {
    const doors = [gate<Frame>(), gate<Frame>()];
    let served = 0;
    const { link } = open({ request: () => doors[served++]?.pass() as Promise<Frame> });
    link.ask('r1', { subtype: 'x' });
    link.say({ type: 'control_cancel_request', request_id: 'r1' });
    link.ask('r1', { subtype: 'x' });
    await Promise.all(doors.map((door) => door.reached));
    doors[0]?.open({ n: 'old' });
    doors[1]?.open({ n: 'new' });
    await settle();
    expect(link.sent).toEqual([success('r1', { n: 'new' })]);
  });

  test('R54 C21 a malformed request with an id is answered, one without is reported; others are unaffected', async () => {
    const { link, faults } = open();
    link.ask('r1', { no: 'subtype' });
    link.ask('r2', 'text');
    link.say({ type: 'control_request', request: { subtype: 'x' } });
    link.say({ type: 'control_response' });
    link.ask('r3', { subtype: 'x' });
    await settle();
    const reason = 'a control_request needs a request with a subtype';
    expect(link.sent).toEqual([
      failure('r1', reason),
      failure('r2', reason),
      success('r3', { subtype: 'x', body: { subtype: 'x' } }),
    ]);
    expect(faults).toEqual([
      reason,
      reason,
      'a control_request needs a request_id',
      'a control_response needs a response with a request_id',
    ]);
  });

  test("a response that is not serializable is replaced by the handler's substitute", async () => {
    const causes: unknown[] = [];
    const { link } = open({
      request: async () => ({ n: 1n }),
      replace: (subtype, body, cause) => {
        causes.push(cause);
        return { instead: subtype, of: body };
      },
    });
    link.ask('r1', { subtype: 'x' });
    await settle();
    expect(link.sent).toEqual([success('r1', { instead: 'x', of: { subtype: 'x' } })]);
    expect(causes).toMatchObject([{ code: 'unsendable' }]);
  });

  test.each([[undefined], [() => undefined]])(
    'a response that is not serializable becomes a failure',
    async (replace) => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      const { link } = open({ request: async () => cyclic, ...(replace && { replace }) });
      link.ask('r1', { subtype: 'x' });
      await settle();
      expect(link.sent).toEqual([failure('r1', expect.stringContaining('cannot be serialized as JSON'))]);
    },
  );

  test('every request gets exactly one response', async () => {
    const request = fc.record({
      subtype: fc.constantFrom('gives', 'throws', 'rejects', 'bare', 'unsendable'),
      turns: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(request, fc.constant({ malformed: true })), { maxLength: 10 }),
        async (asked) => {
          const { link } = open({
            async request(subtype, body) {
              for (let i = 0; i < Number(body.turns); i++) await settle();
              if (subtype === 'throws') throw new Error('no');
              if (subtype === 'rejects') return Promise.reject('no');
              if (subtype === 'unsendable') return { n: 1n };
              return subtype === 'bare' ? undefined : {};
            },
          });
          for (const [index, body] of asked.entries()) link.ask(`r${index}`, body);
          for (let i = 0; i < 5; i++) await settle();
          const answered = link.sent.map((it) => (it.response as { request_id: string }).request_id);
          expect(answered.sort()).toEqual(asked.map((_, index) => `r${index}`).sort());
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('other frames', () => {
  test('messages arrive in order; control frames are not passed on', async () => {
    const { link, messages } = open();
    const said = [{ type: 'system', n: 1 }, { type: 'command_lifecycle' }, { n: 3 }];
    link.say({ type: 'keep_alive' });
    for (const message of said) link.say(message);
    await settle();
    expect(messages).toEqual(said);
    expect(link.sent).toEqual([]);
  });

  test('sending waits for room, and keeps its order with requests', async () => {
    const { link, channel } = open();
    const { drain } = link.fill();
    const sent = channel.send({ type: 'user', n: 1 });
    void channel.request({ subtype: 'x' });
    void channel.send({ type: 'user', n: 2 });
    expect(link.sent.map((it) => it.type)).toEqual(['user', 'control_request', 'user']);
    const state = Promise.race([sent.then(() => 'sent'), settle().then(() => 'waiting')]);
    expect(await state).toBe('waiting');
    drain();
    await sent;
  });
});

describe('the end', () => {
  test('a link failure rejects pending and later requests with its error', async () => {
    const { link, channel } = open();
    const death = new SdkError('process-exited', 'The agent process exited with code 1. stderr: bad flag');
    const asks = [channel.request({ subtype: 'initialize' }), channel.request({ subtype: 'mcp_status' })];
    link.frames.fail(death);
    expect(await Promise.allSettled([...asks, channel.done])).toEqual(
      [1, 2, 3].map(() => ({ status: 'rejected', reason: death })),
    );
    await expect(channel.request({ subtype: 'x' })).rejects.toBe(death);
    await expect(channel.send({ type: 'user' })).rejects.toBe(death);
    channel.post({ subtype: 'x' });
    expect(link.sent).toHaveLength(2);
  });

  test('R57 C34 an expected end resolves and rejects pending requests', async () => {
    const { link, channel } = open();
    const ask = channel.request({ subtype: 'x' });
    link.frames.end();
    await expect(ask).rejects.toMatchObject({
      code: 'closed',
      message: 'Query closed before response received',
    });
    await expect(channel.done).resolves.toBeUndefined();
  });

  test('an agent answers requests that it serves while the program closes its side', async () => {
    const door = gate<Frame>();
    let signal: AbortSignal | undefined;
    const { link, channel } = open({
      answersAfterEnd: true,
      request: (_subtype, _body, served) => {
        signal = served.signal;
        return door.pass();
      },
    });
    link.ask('r1', { subtype: 'x' });
    await door.reached;
    link.frames.end();
    await channel.done;
    expect(signal?.aborted).toBe(false);
    door.open({ late: true });
    await settle();
    expect(link.sent).toEqual([success('r1', { late: true })]);
  });

  test('the end aborts running handlers without a response', async () => {
    const door = gate<Frame>();
    let signal: AbortSignal | undefined;
    const { link, channel } = open({
      request: (_subtype, _body, served) => {
        signal = served.signal;
        return door.pass();
      },
    });
    link.ask('r1', { subtype: 'x' });
    await door.reached;
    link.frames.end();
    await channel.done;
    expect(signal?.reason).toMatchObject({ code: 'closed' });
    door.open({});
    await settle();
    expect(link.sent).toEqual([]);
  });

  test('frames before the end are delivered', async () => {
    const { link, channel, messages } = open();
    const ask = channel.request({ subtype: 'x' });
    link.say({ type: 'result' });
    link.say(success((link.sent[0] as Sent).request_id));
    link.frames.fail(new Error('died'));
    await expect(ask).resolves.toMatchObject({ response: {} });
    await expect(channel.done).rejects.toThrow('died');
    expect(messages).toEqual([{ type: 'result' }]);
  });

  test('a link failure causes no unhandled rejection', async () => {
    const { link } = open();
    link.frames.fail(new Error('died'));
    await settle();
  });
});
