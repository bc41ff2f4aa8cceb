import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anthropicModel } from '../../../src/agent/models/anthropic.ts';
import { type Model, ModelError } from '../../../src/agent/models/model.ts';
import { describeFailure, toModelError } from '../../../src/agent/models/model-error.ts';
import { openAiModel } from '../../../src/agent/models/openai.ts';
import { type RetryEvent, withRetry } from '../../../src/agent/models/retry.ts';
import { fails, scriptedModel, text } from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { modelRequest } from './requests.ts';

describe('toModelError', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const API = { url: 'http://api', variable: 'OPENAI_BASE_URL', timeoutMs: 1000 };

  test.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5000],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after-ms': '250', 'retry-after': '2' }, 250],
    [{}, undefined],
  ])('the headers %o request a delay of %s ms', (headers, ms) => {
    const thrown = Object.assign(new Error('slow'), {
      status: 429,
      headers: new Headers(Object.entries(headers)),
    });
    expect(toModelError(thrown, API, NOW).retryAfterMs).toBe(ms);
  });

  test('secrets in the URL and in the response are masked', () => {
    const { message } = toModelError(
      new Error('bad key sk-abcdefghijkl'),
      { ...API, url: 'http://me:hunter2@api/v1' },
      NOW,
    );
    expect(message).not.toMatch(/hunter2|abcdefghijkl/);
  });

  test('keeps the cause, and an unknown error has the code "failed"', () => {
    const thrown = new SyntaxError('Unexpected token');
    expect(toModelError(thrown, API, NOW)).toMatchObject({
      code: 'failed',
      status: undefined,
      cause: thrown,
    });
  });
});

describe('describeFailure', () => {
  const API = { url: 'http://api', variable: 'ANTHROPIC_BASE_URL', timeoutMs: 1000 };

  test.each([
    [400, 'odd', 'API Error: 400 odd', 'unknown', 'api_error'],
    [400, 'credit balance is too low.', /^Credit balance is too low/, 'billing_error', 'api_error'],
    [400, 'prompt is too long: 2 > 1', /^Prompt is too long · /, 'invalid_request', 'prompt_too_long'],
    [401, 'bad key', /^Invalid API key · .*bad key/, 'authentication_failed', 'api_error'],
    [403, 'no', 'Failed to authenticate. API Error: 403 no', 'authentication_failed', 'api_error'],
    [404, 'gone', /^There's an issue with the selected model \(m\) · .*gone/, 'model_not_found', 'api_error'],
    [
      400,
      'Could not process image',
      /^API Error: an image in the conversation/,
      'invalid_request',
      'image_error',
    ],
    [
      400,
      'messages.0.content.1.image.source.base64.data: too large',
      /image .* was removed/,
      'invalid_request',
      'image_error',
    ],
    [400, 'Invalid image_url: download failed', /was removed/, 'invalid_request', 'image_error'],
    [
      400,
      'tools.0.custom.input_schema: property image_url is invalid',
      'API Error: 400 tools.0.custom.input_schema: property image_url is invalid',
      'unknown',
      'api_error',
    ],
    [
      400,
      'messages.2.content.0.text: not a valid image description',
      'API Error: 400 messages.2.content.0.text: not a valid image description',
      'unknown',
      'api_error',
    ],
    [400, 'image_url: Field required', 'API Error: 400 image_url: Field required', 'unknown', 'api_error'],
    [413, 'big', 'Request too large · big', 'invalid_request', 'image_error'],
    [429, 'slow', 'API Error: Request rejected (429) · slow', 'rate_limit', 'api_error'],
    [500, 'ouch', 'API Error: 500 ouch (http://api); try again later', 'server_error', 'api_error'],
    [529, 'busy', 'API Error: 529 busy (http://api); try again later', 'server_error', 'api_error'],
    [undefined, 'fetch failed', /^API Error: Cannot reach http:\/\/api/, 'server_error', 'api_error'],
  ])('status %s with "%s"', (status, message, text, error, terminalReason) => {
    const body = { type: 'error', error: { type: 'some_error', message } };
    const thrown = Object.assign(new Error(status ? `${status} ${JSON.stringify(body)}` : message), {
      ...(status && { status, error: body }),
    });
    const failure = toModelError(thrown, API, 0);
    expect(failure.type).toBe(status && 'some_error');
    const described = { text: expect.stringMatching(text), error, terminalReason };
    expect(describeFailure(failure, 'm')).toEqual(
      typeof text === 'string' ? { ...described, text } : described,
    );
  });

  test('a failure that is not about a request has its own text', () => {
    const failure = new ModelError('unauthorized', 'No model is available');
    expect(describeFailure(failure, 'm')).toMatchObject({
      text: 'No model is available',
      error: 'authentication_failed',
    });
  });
});

describe('unreachable', () => {
  const ENDPOINT = { url: 'https://models.example/v1', variable: 'OPENAI_BASE_URL', timeoutMs: 2000 };

  /**
   * The error of a failed connection: that of the client library, whose cause is that of fetch, whose cause is that of
   * the system.
   */
  function connectionError(code: string, address?: string): Error {
    const system = Object.assign(new Error(`connect ${code}`), { code, ...(address && { address }) });
    const inner = new TypeError('fetch failed', { cause: system });
    return new Error('Connection error.', { cause: inner });
  }

  test.each([
    ['ECONNREFUSED', '127.0.0.1', 'https://models.example/v1', 0],
    ['ECONNREFUSED', '::1', 'https://models.example/v1', 0],
    ['ECONNREFUSED', undefined, 'http://localhost:1/v1', 0],
    ['ECONNREFUSED', '0.0.0.0', 'http://0.0.0.0:1/v1', 0],
    ['ECONNREFUSED', '10.1.2.3', 'http://10.1.2.3:1/v1', undefined],
    ['ECONNREFUSED', undefined, 'https://models.example/v1', undefined],
    ['ENOTFOUND', undefined, 'https://models.example/v1', 2],
    ['EAI_AGAIN', undefined, 'https://models.example/v1', undefined],
    ['ECONNRESET', undefined, 'http://127.0.0.1:1/v1', undefined],
    ['ETIMEDOUT', undefined, 'https://models.example/v1', undefined],
    ['CERT_HAS_EXPIRED', undefined, 'https://models.example/v1', 0],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined, 'https://models.example/v1', 0],
    ['ERR_TLS_CERT_ALTNAME_INVALID', undefined, 'https://models.example/v1', 0],
    ['ERR_SSL_WRONG_VERSION_NUMBER', undefined, 'https://models.example/v1', 0],
  ])('%s from %s for %s: at most %s retries', (code, address, url, retryLimit) => {
    const fault = toModelError(connectionError(code, address), { ...ENDPOINT, url }, 0);
    expect(fault).toMatchObject({ code: 'unreachable', reason: code, endpoint: url, retryLimit });
    expect(fault.message.startsWith(`Cannot reach ${url} (${code}): `)).toBe(true);
  });

  test.each(['ECONNRESET', 'UND_ERR_SOCKET'])('%s is explained as a connection that was closed', (code) => {
    expect(toModelError(connectionError(code), ENDPOINT, 0).message).toContain(
      `(${code}): connection closed before a response; check the server`,
    );
  });

  test('a refused connection to both addresses of localhost counts as local', () => {
    const refused = ['::1', '127.0.0.1'].map((address) =>
      Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address }),
    );
    const all = Object.assign(new AggregateError(refused), { code: 'ECONNREFUSED' });
    const thrown = new Error('Connection error.', { cause: new TypeError('fetch failed', { cause: all }) });
    expect(toModelError(thrown, ENDPOINT, 0)).toMatchObject({ reason: 'ECONNREFUSED', retryLimit: 0 });
  });

  test.each(['http://me:hunter2@models.example/v1?key=hunter2#hunter2', 'http://hunter2@models.example/v1'])(
    'no credential of %s is repeated',
    (url) => {
      const refused = toModelError(connectionError('ECONNREFUSED'), { ...ENDPOINT, url }, 0);
      const failed = toModelError(
        new TypeError(`a URL that includes credentials: ${url}`),
        { ...ENDPOINT, url },
        0,
      );
      expect([refused.endpoint, refused.message, failed.message].join()).not.toContain('hunter2');
      expect(refused.endpoint).toBe('http://models.example/v1');
    },
  );

  test.each([
    [{ code: 'unreachable' as const }, 5],
    [{ code: 'unreachable' as const, retryLimit: 2 }, 2],
    [{ code: 'unreachable' as const, retryLimit: 0 }, 0],
    [{ code: 'overloaded' as const }, 10],
  ])('%j is retried %i times by default', async ({ code, ...details }, retries) => {
    const told: RetryEvent[] = [];
    const inner = scriptedModel(() => fails(new ModelError(code, 'away', details)));
    const model = withRetry(inner, { sleep: async () => {}, onRetry: (event) => told.push(event) });
    await expect(collect(model.stream(modelRequest()))).rejects.toThrow('away');
    expect(inner.requests).toHaveLength(retries + 1);
    expect(told.map(({ failures, maxRetries }) => [failures, maxRetries])).toEqual(
      Array.from({ length: retries }, (_, index) => [index + 1, retries]),
    );
  });

  test.each([0, 1, 7])(
    'an explicit number of retries applies to every kind of failure: %i',
    async (maxRetries) => {
      const inner = scriptedModel(() => fails(new ModelError('unreachable', 'away')));
      const model = withRetry(inner, { maxRetries, sleep: async () => {} });
      await expect(collect(model.stream(modelRequest()))).rejects.toThrow('away');
      expect(inner.requests).toHaveLength(maxRetries + 1);
    },
  );

  test('a permanently unreachable endpoint switches to the fallback immediately', async () => {
    const first = scriptedModel(() => fails(new ModelError('unreachable', 'away', { retryLimit: 0 })));
    const second = scriptedModel([text('here')]);
    const model = withRetry(first, { fallback: { model: second, names: ['m-2'] }, sleep: async () => {} });
    await collect(model.stream(modelRequest()));
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  type Open = (baseUrl: string, timeoutMs?: number) => Model;
  const ADAPTERS: readonly [name: string, variable: string, open: Open][] = [
    [
      'anthropic',
      'ANTHROPIC_BASE_URL',
      (baseUrl, timeoutMs) => anthropicModel({ apiKey: 'k', baseUrl, ...(timeoutMs && { timeoutMs }) }),
    ],
    [
      'openai',
      'OPENAI_BASE_URL',
      (baseUrl, timeoutMs) => openAiModel({ baseUrl, ...(timeoutMs && { timeoutMs }) }),
    ],
  ];

  describe.each(ADAPTERS)('over loopback: %s', (_, variable, open) => {
    test('a refused connection fails at once and names URL, cause and remedy', async () => {
      const url = `http://127.0.0.1:${await freePort()}/v1`;
      const told: RetryEvent[] = [];
      const model = withRetry(open(url), { onRetry: (event) => told.push(event) });
      await expect(collect(model.stream(modelRequest()))).rejects.toThrow(
        `Cannot reach ${url} (ECONNREFUSED): connection refused; start the model server or correct ${variable}`,
      );
      expect(told).toEqual([]);
    });

    test('a connection closed without a response is retried', async () => {
      const { url, requests } = await listen((socket) => socket.once('data', () => socket.destroy()));
      const told: RetryEvent[] = [];
      const retry = {
        maxRetries: 2,
        sleep: async () => {},
        onRetry: (event: RetryEvent) => told.push(event),
      };
      const asked = collect(withRetry(open(url), retry).stream(modelRequest()));
      await expect(asked).rejects.toMatchObject({ code: 'unreachable', endpoint: url });
      expect(requests()).toBe(3);
      expect(told.map(({ error }) => error.endpoint)).toEqual([url, url]);
    });

    test('a server that never responds fails after the timeout', async () => {
      const { url, requests } = await listen(() => {});
      const model = withRetry(open(url, 50), { maxRetries: 1, sleep: async () => {} });
      await expect(collect(model.stream(modelRequest()))).rejects.toMatchObject({
        code: 'unreachable',
        reason: 'no response within 0.05 s',
        message: expect.stringContaining('API_TIMEOUT_MS'),
      });
      expect(requests()).toBe(2);
    });

    test.each([
      [500, 3],
      [529, 3],
      [401, 1],
      [403, 1],
      [404, 1],
    ])('status %i makes %i requests with two retries', async (status, expected) => {
      const { url, requests } = await listen((socket) =>
        socket.once('data', () =>
          socket.end(`HTTP/1.1 ${status} X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
        ),
      );
      const model = withRetry(open(url), { maxRetries: 2, sleep: async () => {} });
      await expect(collect(model.stream(modelRequest()))).rejects.toMatchObject({ status, endpoint: url });
      expect(requests()).toBe(expected);
    });
  });

  async function listen(onSocket: (socket: Socket) => void) {
    let count = 0;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}).once('data', () => count++));
      onSocket(socket);
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { url: `http://127.0.0.1:${await portOf(server)}/v1`, requests: () => count };
  }

  async function freePort(): Promise<number> {
    const server = createServer();
    const port = await portOf(server);
    server.close();
    await once(server, 'close');
    return port;
  }

  async function portOf(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
});
