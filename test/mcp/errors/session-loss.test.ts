import { describe, expect, test } from 'vitest';
import { SecretMask } from '../../../src/mcp/connection/secret-mask.ts';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { SessionLossCheck } from '../../../src/mcp/errors/session-loss.ts';
import { open } from '../support/attempt.ts';
import { type Seen, startWeb } from '../transports/http/support/web.ts';

const WORDS = 'there is no session for order 7';

type Pinged = 'fine' | 'unknown-method' | 'refused' | 'refused alike' | 'silent' | 'broken';

/** A server with sessions that refuses calls, and answers pings as specified. */
function startShop(status: number, pinged: Pinged, given: string | ((id: unknown) => string) = WORDS) {
  return startWeb(({ message }, response) => {
    const { id, method } = message;
    const body = typeof given === 'string' ? given : given(id);
    const type = body.startsWith('{')
      ? 'application/json'
      : body.startsWith('<')
        ? 'text/html'
        : 'text/plain';
    const json = (more: object) => {
      const session = method === 'initialize' ? { 'mcp-session-id': 's1' } : {};
      response.writeHead(200, { 'content-type': 'application/json', ...session });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...more }));
    };
    if (method === 'tools/call') return response.writeHead(status, { 'content-type': type }).end(body);
    if (method === 'initialize') {
      const serverInfo = { name: 'shop', version: '1' };
      return json({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
    }
    if (method !== 'ping') return false;
    if (pinged === 'fine') return json({ result: {} });
    if (pinged === 'unknown-method') return json({ error: { code: -32601, message: 'no such method' } });
    if (pinged === 'refused alike') return response.writeHead(status, { 'content-type': type }).end(body);
    if (pinged === 'refused') return response.writeHead(status).end();
    return pinged === 'broken' ? response.destroy() : undefined;
  });
}

const pings = (seen: readonly Seen[]) => seen.filter(({ message }) => message.method === 'ping').length;

describe('a call that is answered as if the session were lost', () => {
  test.each([
    [404, 'fine'],
    [400, 'fine'],
    [410, 'fine'],
    [404, 'unknown-method'],
  ] as const)('by %i failed by itself if a ping is %s: it is not to be repeated', async (status, pinged) => {
    await using shop = await startShop(status, pinged);
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    const failure = await far.connection.callTool('order', {}).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({
      name: 'HostError',
      code: 'unreachable',
      isTerminal: false,
      hasRun: 'maybe',
      message: expect.stringMatching(
        `${WORDS}.*HTTP ${status} for "tools/call", although the session is still valid`,
      ),
    });
    expect(pings(shop.seen)).toBe(1);
    expect(shop.calls()).toHaveLength(1);
  });

  test('and has an error of the protocol in its body gets that, if a ping is fine', async () => {
    const error = { code: -32001, message: WORDS, data: { order: 7 } };
    await using shop = await startShop(404, 'fine', JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      name: 'ServerFault',
      code: -32001,
      message: WORDS,
    });
    expect(shop.calls()).toHaveLength(1);
  });

  test('by 404 lost its session if a ping is refused too: it has not run', async () => {
    await using shop = await startShop(404, 'refused', '');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      code: 'session-lost',
      isTerminal: true,
      hasRun: 'no',
    });
  });

  const rpcError = (code: number, message: string) => (id: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

  test.each<[string, number, string | ((id: unknown) => string)]>([
    ['an error of the protocol with the id of the request', 404, rpcError(-32001, 'Session not found')],
    ['the same with 400', 400, rpcError(-32000, 'Bad Request: No valid session ID provided')],
    ['the same with 410', 410, rpcError(-32001, 'Session terminated')],
    ['a code of the server itself', 404, rpcError(-32004, 'Session expired')],
    ['the code of invalid parameters', 404, rpcError(-32602, 'Unknown session')],
    ['the id in its words', 404, (id) => rpcError(-32001, `request ${id}: no session`)(id)],
    ['text', 404, 'Session not found'],
    ['text with 400', 400, 'Bad Request: No valid session ID provided'],
    ['a web page', 404, '<html><body>Not Found</body></html>'],
    ['JSON that is no error of the protocol', 404, (id) => `{"detail":"not found","request":"r-${id}"}`],
    ['nothing', 404, ''],
  ])('lost its session if a ping is refused alike, with %s (%i)', async (_, status, body) => {
    await using shop = await startShop(status, 'refused alike', body);
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      code: 'session-lost',
      isTerminal: true,
      hasRun: 'no',
    });
    expect(shop.calls()).toHaveLength(1);
  });

  test('by 404 may have run if a ping tells nothing', async () => {
    await using shop = await startShop(404, 'broken', '');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      code: 'unreachable',
      isTerminal: false,
      hasRun: 'maybe',
    });
  });

  test('by 404 in other words than a ping lost its session, but the call may have run', async () => {
    await using shop = await startShop(404, 'refused', 'order 7 is gone');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      code: 'session-lost',
      isTerminal: true,
      hasRun: 'maybe',
      message: expect.stringContaining('order 7 is gone'),
    });
  });

  test('by 400 in other words than a ping may have run: the session is not the reason', async () => {
    await using shop = await startShop(400, 'refused', 'order 7 is gone');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    await expect(far.connection.callTool('order', {})).rejects.toMatchObject({
      code: 'unreachable',
      isTerminal: false,
      hasRun: 'maybe',
    });
  });

  test('shares the ping with others that fail at once; a ping is not asked about a ping', async () => {
    await using shop = await startShop(404, 'refused', '');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    const calls = Array.from({ length: 20 }, () => far.connection.callTool('order', {}));
    for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'session-lost', hasRun: 'no' });
    }
    const before = pings(shop.seen);
    expect(before).toBeLessThan(20);
    await expect(far.connection.ping(new AbortController().signal)).rejects.toMatchObject({
      code: 'session-lost',
    });
    expect(pings(shop.seen)).toBe(before + 1);
  });

  test('can be aborted while the ping is under way', async () => {
    await using shop = await startShop(404, 'silent', '');
    await using far = await open({ type: 'http', url: shop.url, era: 'legacy' });
    const abort = new AbortController();
    const call = far.connection.callTool('order', {}, { signal: abort.signal });
    const refused = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => pings(shop.seen)).toBe(1);
    abort.abort();
    await refused;
  });
});

test('concurrent failures share one ping, later ones do not', async () => {
  const pinged: PromiseWithResolvers<unknown>[] = [];
  const check = new SessionLossCheck('srv', new SecretMask(), () => {
    pinged.push(Promise.withResolvers());
    return (pinged.at(-1) as PromiseWithResolvers<unknown>).promise;
  });
  const lost = new HostError('session-lost', 'srv', 'gone', { isTerminal: true, hasRun: 'no' });
  const told = Array.from({ length: 100 }, () => check.confirm(lost, 'tools/call'));
  expect(pinged).toHaveLength(1);
  pinged[0]?.reject(lost);
  for (const fault of await Promise.all(told)) expect(fault).toBe(lost);
  const later = check.confirm(lost, 'tools/call');
  expect(pinged).toHaveLength(2);
  pinged[1]?.resolve({});
  expect(await later).toMatchObject({ isTerminal: false, hasRun: 'maybe' });
});
