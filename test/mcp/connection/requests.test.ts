import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Requests } from '../../../src/mcp/connection/requests.ts';
import { Wire } from '../../../src/mcp/connection/wire.ts';
import { NotedTransport } from '../support/raw-servers.ts';

const call = (name = 'act') => ({ method: 'tools/call', params: { name, arguments: {} } });
const ENVELOPE = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };

async function open(kind: 'pipe' | 'http' = 'pipe', era: 'legacy' | 'modern' = 'legacy') {
  const transport = new NotedTransport(kind);
  const wire = new Wire(transport);
  const requests = new Requests('srv', wire);
  if (era === 'modern') requests.useStatelessProtocol(ENVELOPE);
  const passed: unknown[] = [];
  wire.onOwnMessage = (message) => requests.receive(message);
  wire.onmessage = (message) => passed.push(message);
  let troubles = 0;
  wire.onTransportError = () => troubles++;
  await wire.start();
  return { transport, wire, requests, passed, troubles: () => troubles };
}

test('a thousand concurrent calls each get their own response, in any order', async () => {
  const { transport, requests } = await open();
  const values = Array.from({ length: 1000 }, (_, value) => value);
  const calls = values.map((value) => requests.request(call(`t${value}`), {}));
  const shuffled = transport.sent.map(({ message }) => message).sort((a, b) => hash(a.id) - hash(b.id));
  for (const { id, params } of shuffled)
    transport.say({ id, result: { for: (params as { name: string }).name } });
  expect(await Promise.all(calls)).toEqual(values.map((value) => ({ for: `t${value}` })));
});

test('late and double answers are dropped; those of others are passed on', async () => {
  const { transport, requests, passed, troubles } = await open();
  const asked = requests.request(call(), {});
  const abort = new AbortController();
  const left = requests.request(call(), { signal: abort.signal });
  abort.abort();
  await expect(left).rejects.toMatchObject({ name: 'AbortError' });
  for (const result of [{ n: 1 }, { n: 2 }]) transport.say({ id: 1, result });
  transport.say({ id: 2, result: {} });
  transport.say({ method: 'notifications/progress', params: { progressToken: 2, progress: 1 } });
  expect(await asked).toEqual({ n: 1 });
  expect(passed).toMatchObject([{ method: 'notifications/progress' }]);
  transport.say({ id: 77, result: {} });
  transport.say({ id: 'listen:0', result: {} });
  expect(passed).toMatchObject([{}, { id: 77 }, { id: 'listen:0' }]);
  expect(troubles()).toBe(0);
});

test('what servers get slightly wrong is understood', async () => {
  const { transport, requests } = await open();
  const seen: unknown[] = [];
  const asked = requests.request(call(), { onProgress: ({ progress }) => seen.push(progress) });
  transport.say({ method: 'notifications/progress', params: { progressToken: '1', progress: 1 } });
  transport.say({ id: '1', result: { n: 1 }, error: null });
  expect(await asked).toEqual({ n: 1 });
  expect(seen).toEqual([1]);
});

test.each([
  ['no object', 7, 'neither a result nor an error'],
  ['nothing', null, 'neither a result nor an error'],
  ['a result whose content is no list', { content: 'text' }, 'is not a list'],
])('a response that is %s fails only its own call', async (_, result, words) => {
  const { transport, requests } = await open();
  const odd = requests.request(call(), {});
  const good = requests.request(call(), {});
  transport.say({ id: 1, result });
  transport.say({ id: 2, result: { other: 1 } });
  await expect(odd).rejects.toMatchObject({ code: -32603, message: expect.stringContaining(words) });
  expect(await good).toEqual({ other: 1 });
});

const ODD = { toString: 1, valueOf: 1 };

/** A value that is nested too deeply to be serialized. */
function deep(): unknown {
  return JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
}

test.each([
  ['an object that is no text', { code: 1, message: ODD }, { code: 1, message: '' }],
  ['odd throughout', { code: ODD, message: null, data: 1 }, { code: 0, message: '', data: 1 }],
  ['a text', 'no', { code: 0, message: 'no' }],
  ['a list', [ODD], { code: 0, message: '' }],
  ['deep', { code: 1, message: deep() }, { code: 'too-large' }],
])('an error that is %s settles its call', async (_, error, fault) => {
  const { transport, requests } = await open();
  const asked = requests.request(call(), {});
  transport.say({ id: 1, error });
  await expect(asked).rejects.toMatchObject(fault);
});

test.each([
  ['an id that is an object', { id: ODD, result: {} }],
  ['an id that is a list', { id: [1], result: {} }],
  ['an id that is true', { id: true, result: {} }],
  ['an id that is deep', { id: deep(), result: {} }],
  ['progress of an object', { method: 'notifications/progress', params: { progressToken: ODD } }],
  ['progress of a list', { method: 'notifications/progress', params: { progressToken: [1] } }],
])('%s belongs to no request and is ignored', async (_, message) => {
  const { transport, requests } = await open();
  let heard = 0;
  const asked = requests.request(call(), { onProgress: () => heard++ });
  transport.say(message);
  expect(heard).toBe(0);
  transport.say({ id: 1, method: null, result: { n: 1 } });
  expect(await asked).toEqual({ n: 1 });
});

test('an exception in a message handler is a transport error, and the next message is handled', async () => {
  const { transport, wire, requests, troubles } = await open();
  wire.onmessage = () => {
    throw new RangeError('Maximum call stack size exceeded');
  };
  const asked = requests.request(call(), {});
  transport.say({ id: 'x', method: 'roots/list' });
  expect(troubles()).toBe(1);
  transport.say({ id: 1, result: {} });
  expect(await asked).toEqual({});
});

test('every message is a sign of life', async () => {
  const { transport, wire, requests } = await open();
  expect(wire.lastMessageAt).toBe(0);
  const asked = requests.request(call(), {});
  const messages = [{ method: 'notifications/x' }, { id: 1, result: {} }, { id: 1, result: {} }];
  for (const message of messages) {
    wire.lastMessageAt = 0;
    const before = performance.now();
    transport.say(message);
    expect(wire.lastMessageAt).toBeGreaterThanOrEqual(before);
  }
  await asked;
});

test('a server that reads none of our answers is not answered any more until it does', async () => {
  const { transport, wire, passed } = await open();
  const room = Promise.withResolvers<void>();
  transport.sendsLike = () => room.promise;
  const ping = (id: number) => {
    transport.say({ id: `p${id}`, method: 'ping' });
    const last = passed.at(-1) as { id: string };
    if (last.id === `p${id}`) void wire.send({ jsonrpc: '2.0', id: last.id, result: {} });
  };
  for (let id = 1; id <= 1000; id++) ping(id);
  expect(passed).toHaveLength(64);
  transport.say({ method: 'notifications/x' });
  expect(passed).toHaveLength(65);
  room.resolve();
  await new Promise(setImmediate);
  ping(1001);
  expect(passed).toHaveLength(66);
});

test('an error keeps its code and data', async () => {
  const { transport, requests } = await open();
  const refused = requests.request(call(), {});
  transport.say({ id: 1, error: { code: -32602, message: 'no', data: { a: 1 } } });
  await expect(refused).rejects.toMatchObject({ code: -32602, message: 'no', data: { a: 1 } });
});

test('an answer that was too long fails the one call', async () => {
  const { transport, requests } = await open();
  const asked = requests.request(call(), {});
  transport.say({ id: 1, error: { code: -31413, message: 'the server sent a message of 9 bytes' } });
  await expect(asked).rejects.toMatchObject({ name: 'HostError', code: 'too-large', isTerminal: false });
});

describe('an abort', () => {
  test('rejects at once even if the transport hangs, and is cancelled on the server', async () => {
    const { transport, requests } = await open();
    transport.sendsLike = () => new Promise(() => {});
    const abort = new AbortController();
    const asked = requests.request(call(), { signal: abort.signal });
    abort.abort('enough');
    await expect(asked).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    expect(transport.sent[1]?.message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'aborted' },
    });
  });

  test('before the request sends nothing', async () => {
    const { transport, requests } = await open();
    await expect(requests.request(call(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(transport.sent).toEqual([]);
  });

  test('closes the stream of a request by the stateless protocol, and says nothing', async () => {
    const { transport, requests } = await open('http', 'modern');
    const abort = new AbortController();
    const asked = requests.request(call(), { signal: abort.signal });
    abort.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(transport.sent).toHaveLength(1);
    expect(transport.sent[0]?.options?.requestSignal?.aborted).toBe(true);
  });

  test('is said with the envelope where the stateless protocol has no streams', async () => {
    const { transport, requests } = await open('pipe', 'modern');
    const abort = new AbortController();
    requests.request(call(), { signal: abort.signal }).catch(() => {});
    abort.abort();
    expect(transport.sent[1]?.message).toMatchObject({ params: { requestId: 1, _meta: ENVELOPE } });
  });

  test('leaves no listener behind on a signal that lives on', async () => {
    const { transport, requests } = await open();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const asked = requests.request(call(), { signal });
    transport.say({ id: 1, result: {} });
    await asked;
    expect(removed).toHaveBeenCalledTimes(1);
  });
});

describe('time-outs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('the total timeout applies despite progress, and cancels the request', async () => {
    const { transport, requests } = await open();
    const asked = requests.request(call(), { timeoutMs: 100, idleTimeoutMs: 60 });
    const refused = expect(asked).rejects.toMatchObject({
      code: 'timeout',
      message:
        'MCP server "srv": tool "act" timed out after 100 ms; raise "timeout" of the server entry or callTimeoutMs if it may take longer',
    });
    vi.advanceTimersByTime(50);
    transport.say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    vi.advanceTimersByTime(50);
    await refused;
    expect(transport.sent[1]?.message).toMatchObject({ method: 'notifications/cancelled' });
  });

  test('the idle timeout restarts with progress, and its error names it', async () => {
    const { transport, requests } = await open();
    const seen: unknown[] = [];
    const asked = requests.request(call(), {
      idleTimeoutMs: 2000,
      onProgress: (it) => seen.push(it.progress),
    });
    const refused = expect(asked).rejects.toMatchObject({
      code: 'timeout',
      message:
        'MCP server "srv": tool "act" timed out after 2s without a message; raise idleTimeoutMs if it may take longer',
    });
    for (const progress of [1, 2, 3]) {
      vi.advanceTimersByTime(1500);
      transport.say({ method: 'notifications/progress', params: { progressToken: 1, progress } });
    }
    expect(transport.sent).toHaveLength(1);
    vi.advanceTimersByTime(2000);
    await refused;
    expect(seen).toEqual([1, 2, 3]);
  });

  test.each([100_000_000, 2 ** 31, Number.POSITIVE_INFINITY])('%d ms is not over at once', async (limit) => {
    const { transport, requests } = await open();
    const asked = requests.request(call(), { timeoutMs: limit, idleTimeoutMs: limit });
    vi.advanceTimersByTime(60_000);
    transport.say({ id: 1, result: { n: 1 } });
    expect(await asked).toEqual({ n: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('without limits there is no timer', async () => {
    const { requests } = await open();
    void requests.request(call(), {});
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([
  ['nothing is wanted', {}, undefined],
  ['progress is listened to', { onProgress: () => {} }, { progressToken: 1 }],
  ['silence is limited', { idleTimeoutMs: 50_000 }, { progressToken: 1 }],
  ['the caller has something to say', { meta: { trace: 'x' } }, { trace: 'x' }],
])('what goes along when %s', async (_, options, meta) => {
  const { transport, requests } = await open();
  const asked = requests.request(call(), options);
  const params = transport.sent[0]?.message.params as Record<string, unknown>;
  expect(params._meta).toEqual(meta);
  transport.say({ id: 1, result: {} });
  await asked;
});

test('a progress listener that throws does not affect the call', async () => {
  const { transport, requests } = await open();
  const onProgress = () => {
    throw new Error('mine');
  };
  const asked = requests.request(call(), { onProgress });
  transport.say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
  transport.say({ id: 1, result: { n: 1 } });
  expect(await asked).toEqual({ n: 1 });
});

describe('the end of a connection', () => {
  test('fails all that wait at once, and all that come later', async () => {
    const { requests } = await open();
    const waiting = [requests.request(call(), {}), requests.request(call(), {})];
    requests.end();
    for (const asked of waiting) {
      await expect(asked).rejects.toMatchObject({ code: 'closed', isTerminal: true, hasRun: 'maybe' });
    }
    await expect(requests.request(call(), {})).rejects.toMatchObject({ code: 'closed', hasRun: 'no' });
  });

  test('of a stream before the answer fails the one request', async () => {
    const { transport, requests } = await open('http');
    const [cut, other] = [requests.request(call(), {}), requests.request(call(), {})];
    transport.sent[0]?.options?.onRequestStreamEnd?.();
    await expect(cut).rejects.toMatchObject({ code: 'closed', isTerminal: true, hasRun: 'maybe' });
    transport.say({ id: 2, result: { n: 2 } });
    transport.sent[1]?.options?.onRequestStreamEnd?.();
    expect(await other).toEqual({ n: 2 });
  });
});

test('what the transport complains of is trouble, unless it is the failure of a request', async () => {
  const { transport, requests, troubles } = await open('http');
  const failure = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  transport.sendsLike = async () => {
    transport.onerror?.(failure);
    throw failure;
  };
  await expect(requests.request(call(), {})).rejects.toMatchObject({ code: 'closed', isTerminal: true });
  await new Promise(setImmediate);
  expect(troubles()).toBe(0);
  transport.onerror?.(new Error('the stream broke'));
  await new Promise(setImmediate);
  expect(troubles()).toBe(1);
});

function hash(id: unknown): number {
  return (Number(id) * 7919) % 1009;
}
