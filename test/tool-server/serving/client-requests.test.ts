import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { createHost } from '../../../src/entry/host.ts';
import type { ToolContext } from '../../../src/tool-server/context.ts';
import { openSession, type SdkServer, toolServer } from '../../../src/tool-server/sdk-server.ts';
import { InputRound, RequestStateSeal } from '../../../src/tool-server/serving/client-requests.ts';
import { gate } from '../../support/gate.ts';
import { rpcUser } from '../rpc-user.ts';

const ALL = { elicitation: {}, sampling: {}, roots: {} };
const name = { message: 'What is your name?', requestedSchema: { name: z.string().min(2) } };
const hello = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say hello' } }],
  maxTokens: 10,
};

/** A server whose only tool runs a handler. */
const asking = (handler: (ctx: ToolContext) => unknown, options: object = {}) =>
  toolServer('ask', options).tool('ask', 'Asks', {}, (_, ctx) => handler(ctx));

const text = (it: string) => [{ type: 'text', text: it }];

describe('the same handler serves clients of both revisions', () => {
  const modes = ['legacy', 'auto'] as const;

  async function connect(server: SdkServer, mode: (typeof modes)[number], capabilities: object = ALL) {
    const http = await server.listen();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    onTestFinished(async () => {
      await client.close();
      await http.close();
    });
    return { client, open: () => client.connect(new StreamableHTTPClientTransport(new URL(http.url))) };
  }

  test.each(modes)('elicitation, sampling and roots, one after the other: %s', async (mode) => {
    const server = asking(async ({ elicit, sample, listRoots }) => {
      const { action, content } = await elicit(name);
      const completion = await sample(hello);
      const roots = await listRoots();
      return [action, content?.name, completion.content, roots.length];
    });
    const { client, open } = await connect(server, mode);
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      expect(params).toMatchObject({
        message: name.message,
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      });
      return { action: 'accept', content: { name: 'Ada' } };
    });
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'Hello' },
    }));
    client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///a' }] }));
    await open();
    const { content } = await client.callTool({ name: 'ask' });
    expect(content).toEqual(text('["accept","Ada",{"type":"text","text":"Hello"},1]'));
  });

  test.each(modes)('an answer that the schema refuses fails the call: %s', async (mode) => {
    const { client, open } = await connect(
      asking(({ elicit }) => elicit(name)),
      mode,
    );
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { name: 'A' },
    }));
    await open();
    const result = await client.callTool({ name: 'ask' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/elicitation\/create with an invalid result: (.|\n)*name/) }],
    });
  });

  test.each(modes)('a client without the capability: %s', async (mode) => {
    const handler = vi.fn(({ sample }: ToolContext) => sample(hello));
    const { client, open } = await connect(asking(handler), mode, {});
    await open();
    const call = client.callTool({ name: 'ask' });
    if (mode === 'auto') await expect(call).rejects.toMatchObject({ code: -32021 });
    else {
      expect(await call).toEqual({ content: text('The client does not support sampling'), isError: true });
    }
  });

  test.each(['HTTP', 'in this process'])('createHost() answers, %s', async (place) => {
    const server = asking(async ({ elicit }) => (await elicit(name)).content?.name);
    await using http = await server.listen();
    await using host = createHost({
      mcpServers: { ask: place === 'HTTP' ? { type: 'http', url: http.url } : server },
      handlers: { elicitation: async () => ({ action: 'accept', content: { name: 'Grace' } }) },
    });
    await host.ready();
    expect((await host.callTool('ask', 'ask')).content).toEqual(text('Grace'));
  });

  test('a prompt asks through the McpServer object', async () => {
    const server = toolServer('ask', {
      prompts: [{ name: 'p', get: async (_, { elicit }) => `${(await elicit(name)).content?.name}` }],
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new ClientV1({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }));
    await Promise.all([server.instance.connect(far), client.connect(near)]);
    expect((await client.getPrompt({ name: 'p' })).messages[0]?.content).toEqual(text('Ada')[0]);
    await client.close();
  });
});

describe('requests of a session', () => {
  function open(handler: (ctx: ToolContext) => unknown, capabilities: object | null = ALL) {
    const server = asking(handler);
    const user = rpcUser((port) => openSession(server as never, port));
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 't', version: '1' } };
    if (capabilities) void user.ask('initialize', params, 'init');
    return user;
  }
  const answer = (id: unknown, result: object) => ({ jsonrpc: '2.0', id, result });

  test('are sent to the client and settled by its response', async () => {
    const user = open(({ listRoots }) => listRoots());
    const called = user.ask('tools/call', { name: 'ask' });
    const { id } = (await user.next()) as { id: string };
    expect(user.received).toEqual([{ jsonrpc: '2.0', id, method: 'roots/list', params: {} }]);
    expect(await user.session.receive(answer('another', {}))).toBeUndefined();
    expect(await user.session.receive(answer(id, { roots: [{ uri: 'file:///a' }] }))).toBeUndefined();
    expect(await called).toMatchObject({ result: { content: text('[{"uri":"file:///a"}]') } });
  });

  test.each([
    [{ result: { roots: 1 } }, 'The client answered roots/list with an invalid result'],
    [
      { error: { code: -1, message: 'User rejected' } },
      'The client answered roots/list with an error: User rejected',
    ],
    [{ result: 7 }, 'roots/list with an invalid result: the response has neither a result object nor'],
    [{ error: null }, 'roots/list with an invalid result: the response has neither a result object nor'],
  ])('the response %j rejects', async (response, message) => {
    const user = open(({ listRoots }) => listRoots());
    const called = user.ask('tools/call', { name: 'ask' });
    const { id } = (await user.next()) as { id: string };
    await user.session.receive({ jsonrpc: '2.0', id, ...response });
    expect(await called).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining(message) }] },
    });
  });

  test('are sent if the capabilities are unknown', async () => {
    const user = open(({ listRoots }) => listRoots(), null);
    void user.ask('tools/call', { name: 'ask' });
    expect(await user.next()).toMatchObject({ method: 'roots/list' });
  });

  test('are cancelled with their call', async () => {
    const failed = Promise.withResolvers<unknown>();
    const user = open((ctx) => ctx.listRoots().catch(failed.resolve));
    const called = user.ask('tools/call', { name: 'ask' }, 7);
    const { id } = (await user.next()) as { id: string };
    await user.tell('notifications/cancelled', { requestId: 7, reason: 'enough' });
    expect(await user.next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
    expect(await failed.promise).toMatchObject({ name: 'AbortError', message: 'enough' });
    expect(await called).toMatchObject({ error: { code: -32800 } });
  });

  test('that a handler does not await end with its call, and fail nothing', async () => {
    const user = open((ctx) => {
      void ctx.listRoots();
      return 'done';
    });
    expect(await user.ask('tools/call', { name: 'ask' })).toMatchObject({
      result: { content: text('done') },
    });
    expect(user.received).toMatchObject([{ method: 'roots/list' }, { method: 'notifications/cancelled' }]);
  });

  test('after the end of their call are not sent', async () => {
    const ended = gate();
    const failed = Promise.withResolvers<unknown>();
    const user = open((ctx) => {
      void ended.pass().then(() => ctx.listRoots().catch(failed.resolve));
      return 'done';
    });
    await user.ask('tools/call', { name: 'ask' });
    ended.open();
    expect(await failed.promise).toMatchObject({ name: 'AbortError' });
    expect(user.received).toEqual([]);
  });

  test('are refused if an HTTP client accepts no stream', async () => {
    await using http = await asking(({ listRoots }) => listRoots()).listen();
    const post = (body: object, headers: object = {}) =>
      fetch(http.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: ALL,
      clientInfo: { name: 't', version: '1' },
    };
    const opened = await post({ method: 'initialize', params });
    const called = await post(
      { method: 'tools/call', params: { name: 'ask' } },
      { 'mcp-session-id': opened.headers.get('mcp-session-id') },
    );
    expect(JSON.stringify(await called.json())).toContain('no stream that could carry the request');
  });

  test('are sent on the stream of their call', async () => {
    const waiting = gate();
    const server = toolServer('ask')
      .tool('ask', 'Asks', {}, async (_, ctx) => {
        await waiting.reached;
        return ctx.listRoots();
      })
      .tool('wait', 'Waits', {}, () => waiting.pass());
    await using http = await server.listen();
    let session: Record<string, string> = {};
    const post = (body: object) =>
      fetch(http.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...session,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: ALL,
      clientInfo: { name: 't', version: '1' },
    };
    const opened = await post({ id: 0, method: 'initialize', params });
    session = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')) };
    const asked = post({ id: 1, method: 'tools/call', params: { name: 'ask' } });
    const waited = post({ id: 2, method: 'tools/call', params: { name: 'wait' } });
    let stream = '';
    for await (const part of (await asked).body as AsyncIterable<Uint8Array>) {
      stream += Buffer.from(part).toString();
      const [, id] = /"id":"(roots[^"]+)"/.exec(stream) ?? [];
      if (id && !stream.includes('"id":1')) await post(answer(id, { roots: [] }));
    }
    expect(stream).toContain('"text":"[]"');
    waiting.open();
    expect((await waited).headers.get('content-type')).toBe('application/json');
  });
});

describe('rounds of MCP 2026-07-28', () => {
  const seal = new RequestStateSeal();
  const base = { name: 'ask', arguments: { b: 1, a: 2 } };

  type Ended = { inputRequests: Record<string, { method: string }>; requestState: string };

  function round(params: object = {}, more: { seal?: RequestStateSeal; caller?: string } = {}) {
    const ended = Promise.withResolvers<Ended>();
    const options = {
      seal,
      method: 'tools/call',
      caller: undefined,
      ...more,
      params: { ...base, ...params },
    };
    const made = new InputRound(options, (result) => ended.resolve(result as Ended));
    return { made, ended: ended.promise };
  }
  const roots = { method: 'roots/list' as const, params: {} };
  const ask = (message: string, key?: string) => ({
    method: 'elicitation/create' as const,
    params: { message },
    key,
  });

  /** The result of a first round with some requests. */
  async function firstRound(...requests: Parameters<InputRound['request']>[0][]) {
    const { made, ended } = round();
    const rejected = Promise.allSettled(requests.map((it) => made.request(it)));
    const { requestState, inputRequests } = await ended;
    await rejected;
    return { requestState, inputRequests };
  }

  test('a round that cannot end rejects its requests', async () => {
    const nested = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const { made } = round({ arguments: { nested } });
    await expect(made.request(roots)).rejects.toThrow(RangeError);
  });

  test('concurrent requests end the round together, and reject', async () => {
    const { made, ended } = round();
    const requests = [made.request(roots), made.request(ask('A', 'a')), made.request(ask('A', 'a'))];
    const settled = Promise.allSettled(requests);
    expect(await ended).toEqual({
      resultType: 'input_required',
      inputRequests: {
        'roots-list-1': roots,
        a: { method: 'elicitation/create', params: { message: 'A' } },
      },
      requestState: expect.any(String),
    });
    for (const it of await settled) expect(it).toMatchObject({ reason: { name: 'AbortError' } });
  });

  test('answers of earlier rounds are kept in the state', async () => {
    const { requestState } = await firstRound(ask('A', 'a'));
    const second = round({ requestState, inputResponses: { a: { action: 'accept' }, other: {} } });
    expect(await second.made.request(ask('A', 'a'))).toEqual({ action: 'accept' });
    const open = second.made.request(ask('B', 'b')).catch(() => {});
    const { inputRequests, requestState: later } = await second.ended;
    await open;
    expect(Object.keys(inputRequests)).toEqual(['b']);
    const third = round({ requestState: later, inputResponses: { b: { action: 'cancel' } } });
    expect(await third.made.request(ask('A', 'a'))).toEqual({ action: 'accept' });
    expect(await third.made.request(ask('B', 'b'))).toEqual({ action: 'cancel' });
  });

  test('the answer to another question is not used', async () => {
    const { requestState } = await firstRound(ask('Delete a?', 'confirm'));
    const { made, ended } = round({ requestState, inputResponses: { confirm: { action: 'accept' } } });
    made.request(ask('Delete b?', 'confirm')).catch(() => {});
    expect((await ended).inputRequests).toHaveProperty('confirm');
  });

  test('answers without a state are found by their key', async () => {
    const { made } = round({ inputResponses: { a: { action: 'decline' } } });
    expect(await made.request(ask('A', 'a'))).toEqual({ action: 'decline' });
  });

  test('two different requests with one key reject', async () => {
    const { made } = round();
    made.request(ask('A', 'a')).catch(() => {});
    await expect(made.request(ask('B', 'a'))).rejects.toMatchObject({ code: 'client-request-failed' });
  });

  test.each([null, 1, [], { a: 1 }, { a: null }, { a: [] }])(
    'inputResponses %j is -32602',
    (inputResponses) => {
      expect(() => round({ inputResponses })).toThrow(expect.objectContaining({ code: -32602 }));
    },
  );

  test('a state is opened only for the same request of the same caller, as it was sent', async () => {
    const { requestState } = await firstRound(roots);
    expect(() => round({ requestState, arguments: { a: 2, b: 1 } })).not.toThrow();
    const refused = expect.objectContaining({ code: -32602 });
    const changed = requestState.replace(/^./, (it) => (it === 'A' ? 'B' : 'A'));
    for (const params of [
      { requestState: `${requestState}-TAMPERED` },
      { requestState: `${requestState}=` },
      { requestState: changed },
      { requestState: requestState.slice(0, 20) },
      { requestState: '' },
      { requestState: null },
      { requestState: 7 },
      { requestState, name: 'other' },
      { requestState, arguments: { a: 2, b: 2 } },
    ]) {
      expect(() => round(params), JSON.stringify(params)).toThrow(refused);
    }
    expect(() => round({ requestState }, { caller: 'eve' })).toThrow(refused);
    expect(() => round({ requestState }, { seal: new RequestStateSeal() })).toThrow(refused);
  });

  test('a state with a shortened authentication tag is refused without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const { requestState } = await firstRound(roots);
    for (const length of [0, 4, 12, 16, 20, 24, 27]) {
      const short = Buffer.from(requestState, 'base64url').subarray(0, length).toString('base64url');
      expect(() => round({ requestState: short })).toThrow(expect.objectContaining({ code: -32602 }));
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test('processes with the same key open the states of each other', async () => {
    const [one, two] = [1, 2].map(() => new RequestStateSeal('a secret that both processes know'));
    const state = { sealedAt: Date.now(), asked: {}, answered: {} };
    expect(two?.open(one?.seal(state, 'p'), 'p')).toEqual(state);
  });

  test('a state expires after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { requestState } = await firstRound(roots);
    vi.setSystemTime(Date.now() + 23 * 3600_000);
    expect(() => round({ requestState })).not.toThrow();
    vi.setSystemTime(Date.now() + 2 * 3600_000);
    expect(() => round({ requestState })).toThrow(expect.objectContaining({ code: -32602 }));
  });

  test('a handler that catches the end of its round does not answer the call', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const server = asking(async (ctx) => {
      await ctx.listRoots().catch(() => {});
      aborted.resolve(ctx.signal.aborted);
      return 'wrong';
    });
    const user = rpcUser((port) => openSession(server as never, port), {
      clientCapabilities: ALL,
      requestStateSeal: seal,
    });
    const answered = await user.ask('tools/call', { name: 'ask' });
    expect(answered).toMatchObject({ result: { resultType: 'input_required' } });
    expect(await aborted.promise).toBe(true);
    expect(user.received).toEqual([]);
  });
});

describe('server.call()', () => {
  test('passes requests to onRequest', async () => {
    const server = asking(async ({ elicit, clientCapabilities }) => [
      (await elicit(name)).content?.name,
      clientCapabilities,
    ]);
    const onRequest = vi.fn(() => ({ action: 'accept', content: { name: 'Ada' } }));
    expect(await server.call('ask', {}, { onRequest })).toMatchObject({ content: text('["Ada",null]') });
    expect(onRequest).toHaveBeenCalledWith(expect.objectContaining({ method: 'elicitation/create' }));
  });

  test('without onRequest, the client supports nothing', async () => {
    const result = await asking(({ listRoots }) => listRoots()).call('ask');
    expect(result).toEqual({ content: text('The client does not support roots'), isError: true });
  });

  test.each([
    [{ elicitation: {} }, true, false],
    [{ elicitation: { form: {} } }, true, false],
    [{ elicitation: { url: {} } }, false, true],
    [{ elicitation: { form: {}, url: {} } }, true, true],
    [{}, false, false],
  ])('elicitation with the capabilities %j: form %s, URL %s', async (capabilities, form, url) => {
    const link = { mode: 'url' as const, message: 'Sign in', url: 'https://a.test', elicitationId: '1' };
    const outcomes: boolean[] = [];
    const server = asking(async ({ elicit }) => {
      for (const params of [name, link]) {
        await elicit(params).then(
          () => outcomes.push(true),
          (failure) => outcomes.push(failure.code !== 'missing-capability'),
        );
      }
    });
    const user = rpcUser((port) => openSession(server as never, port), { clientCapabilities: capabilities });
    const called = user.ask('tools/call', { name: 'ask' });
    for (const isSent of [form, url]) {
      if (!isSent) continue;
      const { id } = (await user.next()) as { id: string };
      await user.session.receive({ jsonrpc: '2.0', id, result: { action: 'cancel' } });
    }
    await called;
    expect(outcomes).toEqual([form, url]);
  });
});
