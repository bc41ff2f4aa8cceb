import { describe, expect, test } from 'vitest';
import type { ConnectContext, ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { ClientFeatures, RequestHandler } from '../../../src/mcp/connection/server-requests.ts';
import { open } from '../support/attempt.ts';
import { startModernHttp, stdioModern } from '../support/modern-servers.ts';
import { calls } from '../support/modern-tools.ts';
import { testWorld } from '../support/servers.ts';

/** A context whose client answers these methods. */
function answering(
  answers: Record<string, RequestHandler>,
  more: Partial<ConnectContext> = {},
): ConnectContext {
  const offer: ClientFeatures = { capabilities: {}, handlers: answers };
  return testWorld({ clientFeatures: () => offer, ...more });
}

const read = ({ content }: { content?: unknown }) =>
  JSON.parse((content as { text: string }[])[0]?.text ?? '');

async function startStdio() {
  return { entry: stdioModern as ServerEntry, [Symbol.asyncDispose]: async () => {} };
}

async function startHttp() {
  const web = await startModernHttp();
  const entry: ServerEntry = { type: 'http', url: web.url };
  return { entry, [Symbol.asyncDispose]: () => web[Symbol.asyncDispose]() };
}

describe.each([
  ['stdio', startStdio],
  ['http', startHttp],
])('a question of a server of the newer protocol over %s', (_, start) => {
  test('is answered on the way, with the defaults of its form, and the result is whole', async () => {
    await using server = await start();
    const asked: unknown[] = [];
    const elicit: RequestHandler = async (params) => {
      asked.push(params);
      return { action: 'accept', content: { name: 'Ada' } };
    };
    await using far = await open(server.entry, answering({ 'elicitation/create': elicit }));
    const result = await far.connection.callTool('ask', {}, { timeoutMs: 10_000, idleTimeoutMs: 5000 });
    expect(read(result)).toEqual({ given: { name: 'Ada', size: 7 }, state: 'as it was' });
    expect(result).toMatchObject({ _meta: { own: 1 } });
    expect(result).not.toHaveProperty('resultType');
    expect(asked).toMatchObject([{ message: 'Who?' }]);
  });

  test('reaches the server as refused if the person refuses', async () => {
    await using server = await start();
    const world = answering({ 'elicitation/create': async () => ({ action: 'decline' }) });
    await using far = await open(server.entry, world);
    expect(read(await far.connection.callTool('ask', {}))).toEqual({ refused: { action: 'decline' } });
  });

  test('is waited for no longer than the call may take', async () => {
    await using server = await start();
    let isLeft = false;
    const elicit: RequestHandler = (_params, signal) =>
      new Promise(() => signal.addEventListener('abort', () => (isLeft = true)));
    await using far = await open(server.entry, answering({ 'elicitation/create': elicit }));
    await expect(far.connection.callTool('ask', {}, { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('tool "ask" timed out after 300 ms'),
    });
    expect(isLeft).toBe(true);
  });

  test('ends at once when the call is aborted', async () => {
    await using server = await start();
    const abort = new AbortController();
    const elicit: RequestHandler = () => {
      abort.abort();
      return new Promise(() => {});
    };
    await using far = await open(server.entry, answering({ 'elicitation/create': elicit }));
    await expect(far.connection.callTool('ask', {}, { signal: abort.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test('that never ends is given up', async () => {
    await using server = await start();
    let rounds = 0;
    const roots: RequestHandler = async () => ({ roots: [{ uri: `file:///${rounds++}` }] });
    await using far = await open(server.entry, answering({ 'roots/list': roots }));
    expect(read(await far.connection.callTool('roots', {}))).toEqual({ roots: [{ uri: 'file:///0' }] });
    await expect(far.connection.callTool('never', {})).rejects.toMatchObject({ name: 'HostError' });
    expect(rounds).toBe(11);
  });

  test('without a handler is not declared, or fails only its own call', async () => {
    await using server = await start();
    await using far = await open(server.entry);
    await expect(far.connection.callTool('roots', {})).rejects.toBeInstanceOf(Error);
    expect(far.connection.era).toBe('modern');
    await far.connection.ping(AbortSignal.timeout(5000));
  });
});

test('arguments that are marked travel as headers too, with every word a header can hold', async () => {
  await using web = await startModernHttp();
  await using far = await open({ type: 'http', url: web.url });
  const { connection } = far;
  expect(connection.mirrorsParams).toBe(true);
  await connection.listTools();
  for (const region of ['eu-west', 'Zürich']) {
    expect(read(await connection.callTool('marked', { region, plain: 'x' }))).toEqual({ region, plain: 'x' });
  }
  const calls = web.heard.filter(({ method }) => method === 'tools/call');
  expect(calls.map(({ headers }) => headers['mcp-param-region'])).toEqual([
    'eu-west',
    `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
  ]);
  expect(calls[0]?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'marked' });
});

test('a tool whose headers are not known yet is listed when the server wants them', async () => {
  await using web = await startModernHttp();
  await using far = await open({ type: 'http', url: web.url });
  expect(read(await far.connection.callTool('marked', { region: 'eu' }))).toEqual({ region: 'eu' });
  const heard = web.heard.map(({ method }) => method).filter((method) => method.startsWith('tools/'));
  expect(heard).toEqual(['tools/call', 'tools/list', 'tools/call']);
});

test('changed lists are heard of, also after the stream was cut', async () => {
  await using web = await startModernHttp();
  await using far = await open({ type: 'http', url: web.url });
  const next = () => {
    const changed = Promise.withResolvers<string>();
    const off = far.connection.onListChanged((kind) => {
      off();
      changed.resolve(kind);
    });
    return changed.promise;
  };
  const first = next();
  web.change();
  expect(await first).toBe('tools');
  // Changes during the interruption are not known, so the lists are read again.
  const gap = next();
  web.cut();
  expect(await gap).toBe('all');
  const second = next();
  web.change();
  expect(await second).toBe('tools');
  expect(web.heard.filter(({ method }) => method === 'subscriptions/listen')).toHaveLength(2);
});

test.each(['stdio', 'http'])('an aborted call is taken back over %s', async (kind) => {
  await using web = await startModernHttp();
  const told = Promise.withResolvers<void>();
  calls.addEventListener('taken back', () => told.resolve(), { once: true });
  const world = testWorld({ onStderr: (_, line) => line === 'taken back' && told.resolve() });
  await using far = await open(kind === 'http' ? { type: 'http', url: web.url } : stdioModern, world);
  const abort = new AbortController();
  const call = far.connection.callTool('wait', {}, { signal: abort.signal });
  await far.connection.ping(AbortSignal.timeout(5000));
  abort.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  await told.promise;
  expect(web.heard.map(({ method }) => method)).not.toContain('notifications/cancelled');
});

test.each([
  ['those who listen', [{ level: 'info', data: 'all is well' }]],
  ['no listener', []],
])('what a server of the newer protocol logs is sent for %s', async (who, expected) => {
  const logs: unknown[] = [];
  const heard = { onLog: (_: string, entry: unknown) => logs.push(entry) };
  await using far = await open(stdioModern, testWorld(who === 'no listener' ? {} : heard));
  const notices: string[] = [];
  far.connection.onNotification?.((method) => notices.push(method));
  await far.connection.callTool('log', {});
  expect(logs).toEqual(expected);
  expect(notices.filter((method) => method === 'notifications/message')).toHaveLength(expected.length);
});
