import { describe, expect, test } from 'vitest';
import { collectMessage } from '../../../src/agent/models/message-collector.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { openAiModel, openAiParams } from '../../../src/agent/models/openai.ts';
import { withRetry } from '../../../src/agent/models/retry.ts';
import { collect } from '../../support/collect.ts';
import { callChunk, chunk, startOpenAiApi, usageChunk } from '../../support/model-api/openai-api.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { modelRequest, modelTool } from './requests.ts';

describe('openai', () => {
  const HELLO = {
    chunks: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hello' }), chunk({}, 'stop')],
  };

  test('assembles streamed thinking, text and tool calls into blocks with usage', async () => {
    await using api = await startOpenAiApi([
      {
        chunks: [
          chunk({ role: 'assistant', reasoning_content: 'hm' }),
          chunk({ content: 'Let me ' }),
          chunk({ content: 'add.' }),
          callChunk(0, 'call_a', 'add', ''),
          callChunk(0, undefined, undefined, '{"a":'),
          callChunk(1, 'call_b', 'now', '{}'),
          callChunk(0, undefined, undefined, '1}'),
          chunk({}, 'tool_calls'),
          usageChunk({
            prompt_tokens: 20,
            completion_tokens: 7,
            prompt_tokens_details: { cached_tokens: 5 },
          }),
        ],
      },
    ]);
    const message = collectMessage(await collect(openAiModel({ baseUrl: api.url }).stream(modelRequest())));
    expect(message).toMatchObject({
      id: 'chatcmpl-1',
      content: [
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'Let me add.' },
        { type: 'tool_use', id: 'call_a', name: 'add', input: { a: 1 } },
        { type: 'tool_use', id: 'call_b', name: 'now', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 15, output_tokens: 7, cache_read_input_tokens: 5 },
      isComplete: true,
    });
  });

  test('separates calls without index or id', async () => {
    await using api = await startOpenAiApi([
      { chunks: [callChunk(0, 'x', 'a', '{"n":1}'), callChunk(0, 'y', 'b', '{"n":2}'), chunk({}, 'stop')] },
      { chunks: [callChunk(undefined, undefined, 'a', '{}'), chunk({}, 'stop')] },
    ]);
    const model = openAiModel({ baseUrl: api.url });
    const first = collectMessage(await collect(model.stream(modelRequest())));
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content).toMatchObject([
      { id: 'x', input: { n: 1 } },
      { id: 'y', input: { n: 2 } },
    ]);
    const second = collectMessage(await collect(model.stream(modelRequest())));
    expect(second.content).toMatchObject([{ id: 'call_chatcmpl-1_0', name: 'a' }]);
  });

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('the finish reason %s is the stop reason %s', async (finish, stop) => {
    await using api = await startOpenAiApi([{ chunks: [chunk({ content: 'a' }), chunk({}, finish)] }]);
    const events = await collect(openAiModel({ baseUrl: api.url }).stream(modelRequest()));
    expect(collectMessage(events).stop_reason).toBe(stop);
  });

  test("sends key, tools and output limit in the endpoint's format", async () => {
    await using api = await startOpenAiApi([HELLO, HELLO]);
    const request = modelRequest({ tools: [modelTool('add')] });
    await collect(openAiModel({ baseUrl: api.url, apiKey: 'secret-1' }).stream(request));
    const newName = openAiModel({ baseUrl: api.url, maxTokensField: 'max_completion_tokens' });
    await collect(newName.stream(request));
    expect(api.headers[0]?.authorization).toBe('Bearer secret-1');
    expect(api.requests[0]).toMatchObject({
      max_tokens: 4096,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
    });
    expect(api.requests[1]).toMatchObject({ max_completion_tokens: 4096 });
    expect(newName.limits.toolName).toBe(64);
  });

  test.each([
    [401, { message: 'bad key', code: 'invalid_api_key' }, 'unauthorized'],
    [400, { message: 'nope', code: 'context_length_exceeded' }, 'too-long'],
    [400, { message: 'no such field' }, 'bad-request'],
    [400, { message: "This model's maximum context length is 8192 tokens" }, 'too-long'],
    [429, { message: 'pay first', code: 'insufficient_quota' }, 'unauthorized'],
    [500, { message: 'oops' }, 'failed'],
    [503, { message: 'busy' }, 'overloaded'],
  ])('status %i %o is the error "%s" and is not retried by the library', async (status, error, code) => {
    await using api = await startOpenAiApi([{ status, error }, HELLO]);
    const replying = collect(openAiModel({ baseUrl: api.url }).stream(modelRequest()));
    await expect(replying).rejects.toMatchObject({ name: 'ModelError', code, status });
    expect(api.requests).toHaveLength(1);
  });

  test('succeeds on the second attempt after a 429 with Retry-After', async () => {
    const headers = { 'retry-after-ms': '1500' };
    await using api = await startOpenAiApi([{ status: 429, error: { message: 'slow' }, headers }, HELLO]);
    const waits: number[] = [];
    const model = withRetry(openAiModel({ baseUrl: api.url }), {
      sleep: async (ms) => waits.push(ms),
      random: () => 0,
    });
    const message = collectMessage(await collect(model.stream(modelRequest())));
    expect(message.content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(waits).toEqual([1500]);
  });

  test('a truncated stream, or one without a finish reason, is an error', async () => {
    const chunks = [chunk({ content: 'half' })];
    await using api = await startOpenAiApi([{ chunks, isCut: true }, { chunks }]);
    const model = openAiModel({ baseUrl: api.url });
    await expect(collect(model.stream(modelRequest()))).rejects.toMatchObject({ code: 'broken-reply' });
    await expect(collect(model.stream(modelRequest()))).rejects.toThrow(
      'was cut off (no finish reason); check the server',
    );
  });

  test("an abort ends a partial reply with the signal's reason and closes the connection", async () => {
    await using api = await startOpenAiApi([HELLO]);
    const { origin } = new URL(api.url);
    await using proxy = await startFaultyProxy(origin, [{ hangAfter: 200 }]);
    const abort = new AbortController();
    const request = modelRequest({ signal: abort.signal });
    const reading = (async () => {
      for await (const _ of openAiModel({ baseUrl: `${proxy.url}/v1` }).stream(request)) {
        abort.abort(new Error('interrupted'));
      }
    })();
    await expect(reading).rejects.toThrow('interrupted');
    await proxy.clientLeft;
  });
});

describe('openai request', () => {
  const sent = (...messages: ModelMessage[]) =>
    openAiParams(modelRequest({ system: '', messages }), 'max_tokens').messages;

  const PNG = { type: 'base64', media_type: 'image/png', data: 'AAAA' };

  test('a call and its results become tool calls and tool messages, results first', () => {
    const messages = sent(
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'Adding.' },
          { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And go on.' },
          { type: 'tool_result', tool_use_id: 't1', content: 'overflow', is_error: true },
          { type: 'tool_result', tool_use_id: 't2' },
        ],
      },
    );
    const call = { id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    expect(messages).toEqual([
      { role: 'assistant', content: 'Adding.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 't1', content: 'Error: overflow' },
      { role: 'tool', tool_call_id: 't2', content: '(no output)' },
      { role: 'user', content: 'And go on.' },
    ]);
  });

  test('images are sent as data URLs, those of a tool in a user message after its result', () => {
    const url = 'data:image/png;base64,AAAA';
    expect(sent({ role: 'user', content: [{ type: 'image', source: PNG }] })).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
    ]);
    const content = [
      { type: 'text' as const, text: 'a chart' },
      { type: 'image' as const, source: PNG },
    ];
    expect(sent({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content }] })).toEqual([
      { role: 'tool', tool_call_id: 't1', content: 'a chart\n[image]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attached to the result of tool call t1:' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]);
  });

  test.each([
    [{ type: 'text', media_type: 'text/plain', data: 'the text' }, 'the text'],
    [{ type: 'file', file_id: 'f' }, '[document omitted: this model does not support it]'],
  ])('the document %o is sent as the text %s', (source, content) => {
    expect(sent({ role: 'user', content: [{ type: 'document', source }] })).toEqual([
      { role: 'user', content },
    ]);
  });

  test('a PDF is sent as a file', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' };
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    expect(sent({ role: 'user', content: [{ type: 'document', source, title: 'a.pdf' }] })).toEqual([
      { role: 'user', content: [{ type: 'file', file }] },
    ]);
  });

  test('a reply with only thinking blocks is not sent', () => {
    expect(
      sent({ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] }),
    ).toEqual([]);
  });
});
