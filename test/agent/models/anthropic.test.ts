import { describe, expect, test } from 'vitest';
import {
  type AnthropicOptions,
  anthropicModel,
  anthropicParams,
} from '../../../src/agent/models/anthropic.ts';
import { collectMessage } from '../../../src/agent/models/message-collector.ts';
import { withRetry } from '../../../src/agent/models/retry.ts';
import { collect } from '../../support/collect.ts';
import { startMessagesApi } from '../../support/model-api/messages-api.ts';
import { error, text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { type Mishap, startFaultyProxy } from './faulty-proxy.ts';
import { modelRequest, modelTool } from './requests.ts';

describe('anthropic', () => {
  test('a reply with text and a tool use arrives as the API streamed it', async () => {
    await using api = await startMessagesApi([
      together(text('Let me ', 'add.'), toolUse('add', { a: 1, b: 2 })),
    ]);
    const model = anthropicModel({ apiKey: 'k', baseUrl: api.url });
    const message = collectMessage(await collect(model.stream(modelRequest({ tools: [modelTool('add')] }))));
    expect(message).toMatchObject({
      content: [
        { type: 'text', text: 'Let me add.' },
        { type: 'tool_use', name: 'add', input: { a: 1, b: 2 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
      isComplete: true,
    });
  });

  test('the prompt cache may end after the system prompt, the last built-in tool and the last user message', async () => {
    await using api = await startMessagesApi([text('ok')]);
    const request = modelRequest({
      tools: [modelTool('Read'), modelTool('Bash'), modelTool('mcp__docs__search')],
      cacheAfterTool: 1,
      thinking: { budgetTokens: 2000 },
    });
    await collect(anthropicModel({ apiKey: 'k', baseUrl: api.url }).stream(request));
    const sent = api.requests[0];
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(sent?.system).toEqual([{ type: 'text', text: 'Be brief.', ...mark }]);
    expect(sent?.tools?.map((tool) => 'cache_control' in tool)).toEqual([false, true, false]);
    expect(sent?.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }] }]);
    expect(sent?.thinking).toEqual({ type: 'enabled', budget_tokens: 2000 });
  });

  test.each([{ apiKey: 'secret-1' }, { authToken: 'secret-1' }])(
    'sends the given credential: %o',
    async (credential) => {
      await using api = await startMessagesApi([text('ok')]);
      await using proxy = await startFaultyProxy(api.url, []);
      const options = { ...credential, baseUrl: proxy.url, headers: { 'x-team': 'blue' } };
      await collect(anthropicModel(options as AnthropicOptions).stream(modelRequest()));
      expect(proxy.headers[0]).toMatchObject({ authorization: 'Bearer secret-1', 'x-team': 'blue' });
    },
  );

  test.each([
    [401, 'authentication_error', 'invalid x-api-key', 'unauthorized'],
    [400, 'invalid_request_error', 'messages: at least one', 'bad-request'],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'too-long'],
    [429, 'rate_limit_error', 'slow down', 'rate-limited'],
    [500, 'api_error', 'Internal server error', 'failed'],
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
  ])(
    'status %i %s (%s) is the error "%s" and is not retried by the library',
    async (status, type, said, code) => {
      await using api = await startMessagesApi([error(status, said, type), text('not asked for')]);
      const replying = collect(anthropicModel({ apiKey: 'k', baseUrl: api.url }).stream(modelRequest()));
      await expect(replying).rejects.toMatchObject({ name: 'ModelError', code, status });
      expect(api.requests).toHaveLength(1);
    },
  );

  test('waits for the Retry-After of a 429 and succeeds on the second attempt', async () => {
    await using api = await startMessagesApi([text('at last')]);
    const body = JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } });
    const refusal = {
      status: 429,
      body,
      headers: { 'retry-after': '7', 'content-type': 'application/json' },
    };
    await using proxy = await startFaultyProxy(api.url, [refusal]);
    const waits: number[] = [];
    const model = withRetry(anthropicModel({ apiKey: 'k', baseUrl: proxy.url }), {
      sleep: async (ms) => waits.push(ms),
    });
    const message = collectMessage(await collect(model.stream(modelRequest())));
    expect(message.content).toEqual([{ type: 'text', text: 'at last' }]);
    expect(waits).toEqual([7000]);
  });

  const start = { type: 'message_start', message: { id: 'msg_0', model: 'm', usage: {} } };
  const begun = `event: message_start\ndata: ${JSON.stringify(start)}\n\n`;
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const sse = (body: string) => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });

  test.each<[string, Mishap]>([
    ['is reset', { cutAfter: 400 }],
    ['ends early', { endAfter: 400 }],
    ['contains an error', sse(`${begun}event: error\ndata: ${JSON.stringify(overloaded)}\n\n`)],
    ['is not JSON', sse(`${begun}event: content_block_start\ndata: {oops\n\n`)],
  ])('a reply that %s after its first events is requested again', async (_, mishap) => {
    await using api = await startMessagesApi([text('a long answer'), text('a long answer')]);
    await using proxy = await startFaultyProxy(api.url, [mishap]);
    const model = withRetry(anthropicModel({ apiKey: 'k', baseUrl: proxy.url }), { sleep: async () => {} });
    const events = await collect(model.stream(modelRequest()));
    expect(events.filter(({ type }) => type === 'reply_broken')).toHaveLength(1);
    expect(collectMessage(events)).toMatchObject({
      content: [{ type: 'text', text: 'a long answer' }],
      isComplete: true,
    });
    expect(proxy.headers).toHaveLength(2);
  });

  test('a reply whose stop reason has arrived is complete', async () => {
    const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} };
    const body = `${begun}event: message_delta\ndata: ${JSON.stringify(stop)}\n\n`;
    await using proxy = await startFaultyProxy('http://127.0.0.1:1', [sse(body)]);
    const model = anthropicModel({ apiKey: 'k', baseUrl: proxy.url });
    const message = collectMessage(await collect(model.stream(modelRequest())));
    expect(message).toMatchObject({ stop_reason: 'end_turn', isComplete: true });
  });

  test('an error inside the stream gets the corresponding status', async () => {
    const data = JSON.stringify({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
    const headers = { 'content-type': 'text/event-stream' };
    await using proxy = await startFaultyProxy('http://127.0.0.1:1', [
      { status: 200, headers, body: `event: error\ndata: ${data}\n\n` },
    ]);
    const replying = collect(anthropicModel({ apiKey: 'k', baseUrl: proxy.url }).stream(modelRequest()));
    await expect(replying).rejects.toMatchObject({ code: 'overloaded', status: 529 });
  });

  test('a refused connection is the error "unreachable"', async () => {
    const replying = collect(
      anthropicModel({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1' }).stream(modelRequest()),
    );
    await expect(replying).rejects.toMatchObject({ code: 'unreachable', status: undefined });
  });

  test("an abort ends a partial reply with the signal's reason and closes the connection", async () => {
    await using api = await startMessagesApi([text('a long answer')]);
    await using proxy = await startFaultyProxy(api.url, [{ hangAfter: 400 }]);
    const abort = new AbortController();
    const request = modelRequest({ signal: abort.signal });
    const reading = (async () => {
      for await (const _ of anthropicModel({ apiKey: 'k', baseUrl: proxy.url }).stream(request)) {
        abort.abort(new Error('interrupted'));
      }
    })();
    await expect(reading).rejects.toThrow('interrupted');
    await proxy.clientLeft;
  });
});

describe('anthropic request', () => {
  test.each([
    { thinking: 'adaptive' as const, maxTokens: 4096, sent: { type: 'adaptive' } },
    { thinking: 'disabled' as const, maxTokens: 4096, sent: { type: 'disabled' } },
    { thinking: { budgetTokens: 100 }, maxTokens: 4096, sent: { type: 'enabled', budget_tokens: 1024 } },
    { thinking: { budgetTokens: 9000 }, maxTokens: 4096, sent: { type: 'enabled', budget_tokens: 4095 } },
    { thinking: { budgetTokens: 9000 }, maxTokens: 1000, sent: undefined },
  ])('thinking $thinking with $maxTokens tokens is sent as $sent', ({ thinking, maxTokens, sent }) => {
    expect(anthropicParams(modelRequest({ thinking, maxTokens })).thinking).toEqual(sent);
  });

  test('a web search is the only tool, forced and without thinking; empty filters are left out', () => {
    const webSearch = { allowed: ['a.example'], blocked: [] };
    expect(anthropicParams(modelRequest({ webSearch, thinking: 'adaptive' }))).toMatchObject({
      tools: [
        { type: 'web_search_20250305', name: 'web_search', max_uses: 8, allowed_domains: ['a.example'] },
      ],
      tool_choice: { type: 'tool', name: 'web_search' },
      thinking: { type: 'disabled' },
    });
  });

  test('the effort is part of the output configuration', () => {
    expect(anthropicParams(modelRequest({ effort: 'low' })).output_config).toEqual({ effort: 'low' });
    expect(anthropicParams(modelRequest({}))).not.toHaveProperty('output_config');
  });

  test('drops unsigned thinking blocks, empty texts and cache breakpoints of the caller', () => {
    const { messages } = anthropicParams(
      modelRequest({
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'own', signature: 's' },
              { type: 'text', text: '' },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'b' },
              { type: 'text', text: '' },
            ],
          },
        ],
      }),
    );
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'own', signature: 's' }] },
      { role: 'user', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral' } }] },
    ]);
  });
});
