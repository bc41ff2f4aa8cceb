import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { DirectPost } from '../../../../src/mcp/transports/http/direct-post.ts';

const ENDPOINT = new URL('http://127.0.0.1:9/mcp');
const ANSWER = { jsonrpc: '2.0', id: 1, result: { content: [] } };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'say' } } as const;
const CLAIM = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };

/** An official transport whose requests are answered by `answer`; `requests` has what was sent. */
async function open(answer: () => Response | Promise<Response>) {
  const requests: Headers[] = [];
  const direct = new DirectPost(ENDPOINT, async (_, init) => {
    requests.push(new Headers(init?.headers));
    return await answer();
  });
  const inner = new StreamableHTTPClientTransport(ENDPOINT, {
    fetch: direct.transportFetch,
    sessionId: 'session-1',
  });
  inner.setProtocolVersion('2025-11-25');
  const messages: unknown[] = [];
  const errors: unknown[] = [];
  const transport = direct.wrap(inner);
  transport.onmessage = (message) => void messages.push(message);
  transport.onerror = (error) => void errors.push(error);
  await transport.start();
  return { transport, requests, messages, errors };
}

/** A response as `createFetch` returns it: without a body, since the body was already read. */
function json(value: unknown, status = 200): Response {
  const headers = new Headers({ 'content-type': 'application/json' });
  const text = JSON.stringify(value);
  const response = {
    status,
    ok: status < 300,
    statusText: '',
    headers,
    body: null,
    redirected: false,
    type: 'basic',
  };
  return { ...response, json: async () => value, text: async () => text } as unknown as Response;
}

test('a plain answer is delivered; the request has the headers of the session', async () => {
  const { transport, requests, messages } = await open(() => json(ANSWER));
  await transport.send(CALL);
  expect(messages).toEqual([ANSWER]);
  expect(requests.map((headers) => Object.fromEntries(headers))).toEqual([
    {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': 'session-1',
    },
  ]);
});

test('a stream of events is read by the official transport, without a second request', async () => {
  const events = `data: ${JSON.stringify(ANSWER)}\n\n`;
  const { transport, requests, messages } = await open(
    () => new Response(events, { headers: { 'content-type': 'text/event-stream' } }),
  );
  await transport.send(CALL);
  await expect.poll(() => messages).toEqual([ANSWER]);
  expect(requests).toHaveLength(1);
});

test.each([
  ['a refusal', () => json({ error: 'no' }, 500)],
  ['a failure', () => Promise.reject(new Error('unreachable'))],
])('%s is reported by the official transport, without a second request', async (_, answer) => {
  const { transport, requests, errors } = await open(answer);
  await expect(transport.send(CALL)).rejects.toThrow();
  expect(errors).toHaveLength(1);
  expect(requests).toHaveLength(1);
});

test('a request that claims its own protocol version goes through the official transport', async () => {
  const { transport, requests, messages } = await open(() => json(ANSWER));
  await transport.send({ ...CALL, params: { ...CALL.params, _meta: CLAIM } });
  expect(messages).toEqual([ANSWER]);
  expect(requests[0]?.get('mcp-method')).toBe('tools/call');
});
