import { expect, test } from 'vitest';
import { startMessagesApi } from './messages-api.ts';
import { after, error, text, together, toolUse } from './model-reply.ts';
import { toolResults } from './model-view.ts';

const ASK = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

test('a reply is sent whole, with ids made of the request and the place of the block', async () => {
  await using api = await startMessagesApi([together(text('a', 'b'), toolUse('t', { n: 1 }))]);
  expect(await (await post(api.url, ASK)).json()).toEqual({
    id: 'msg_0001',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 'toolu_0001_1', name: 't', input: { n: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
});

test('a streamed reply comes in pieces', async () => {
  await using api = await startMessagesApi([together(text('a', 'b'), toolUse('t', {}))]);
  const stream = await (await post(api.url, { ...ASK, stream: true })).text();
  expect([...stream.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
});

test.each([
  ['naming the session', { ...ASK, tools: [], output_config: { format: { type: 'json_schema' } } }],
  ['probing the quota', { ...ASK, max_tokens: 1 }],
])('%s takes nothing from the script and is not recorded', async (_, side) => {
  await using api = await startMessagesApi([text('main')]);
  await post(api.url, side);
  expect(api.requests).toEqual([]);
  expect(await (await post(api.url, ASK)).json()).toMatchObject({ content: [{ text: 'main' }] });
});

test.each([
  ['a scripted refusal', [error(429, 'slow down', 'rate_limit_error')], 429, 'slow down'],
  ['a script that is too short', [], 400, 'the script has no reply for request 1'],
])('%s is an API error', async (_, script, status, message) => {
  await using api = await startMessagesApi(script);
  const response = await post(api.url, ASK);
  expect([response.status, await response.json()]).toMatchObject([status, { error: { message } }]);
});

test('a withheld reply is sent once its promise settles, and its request has been seen before', async () => {
  const ready = Promise.withResolvers<void>();
  await using api = await startMessagesApi(() => after(ready.promise, text('now')));
  const response = post(api.url, ASK);
  expect(await api.request(1)).toMatchObject(ASK);
  ready.resolve();
  expect(await (await response).json()).toMatchObject({ content: [{ text: 'now' }] });
});

test('closing ends what is withheld and rejects who waits for a request', async () => {
  const api = await startMessagesApi(() => after(new Promise(() => {}), text('never')));
  const refused = expect(post(api.url, ASK)).rejects.toThrow();
  await api.request(1);
  const waiting = expect(api.request(2)).rejects.toThrow('closed');
  await api.close();
  await Promise.all([refused, waiting]);
});

test('anything else is not found', async () => {
  await using api = await startMessagesApi([]);
  expect((await fetch(`${api.url}/api/hello`, { method: 'HEAD' })).status).toBe(404);
  expect((await fetch(`${api.url}/v1/models`)).status).toBe(404);
});

test('the latest tool results are what the model sees', () => {
  const result = { type: 'tool_result', tool_use_id: 'x', content: 'no', is_error: true, cache_control: {} };
  const messages = [
    { role: 'assistant', content: 'call' },
    { role: 'user', content: [result] },
  ];
  expect(toolResults({ ...ASK, messages })).toEqual([{ id: 'x', isError: true, content: 'no' }]);
});

function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/messages?beta=true`, { method: 'POST', body: JSON.stringify(body) });
}
