import { describe, expect, test } from 'vitest';
import { readyOffer } from '../../../src/mcp/connection/server-answers.ts';
import type { ServerLog } from '../../../src/mcp/connection/world.ts';
import type { ServerAnswer } from '../../../src/mcp/connection/server-answers.ts';
import { INVALID_PARAMS, RpcFault } from '../../../src/protocol/json-rpc.ts';
import { open } from './attempt.ts';
import { rawServer } from './raw-servers.ts';
import { testWorld } from './servers.ts';

/** It sends what it is called with, and gives back what it was answered; it says what it was offered in a tool of its own. */
const asking = {
  ...rawServer(`(message, send, greet) => {
    if (message.method === 'initialize') {
      globalThis.offered = message.params.capabilities;
      greet(message);
    }
    const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value ?? null) }] });
    if (message.method === 'tools/call' && message.params.name === 'offered') {
      send({ id: message.id, result: text(globalThis.offered) });
    } else if (message.method === 'tools/call') {
      for (const sent of message.params.arguments.first ?? []) send(sent);
      globalThis.call = message.id;
      if (message.params.arguments.ask) send({ id: 'q', ...message.params.arguments.ask });
      else send({ id: message.id, result: text('done') });
    } else if (message.id === 'q') {
      send({ id: globalThis.call, result: text(message) });
    }
  }`),
  era: 'legacy' as const,
};

async function ask(method: string, params: object | undefined, answers: Record<string, ServerAnswer>) {
  const world = testWorld({ offerTo: () => ({ capabilities: {}, answers }) });
  await using far = await open(asking, world);
  const { content } = await far.connection.callTool('ask', { ask: { method, params } });
  const { jsonrpc: _, id: __, ...answer } = JSON.parse((content as { text: string }[])[0]?.text ?? '');
  return answer;
}

const form = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { n: { type: 'number', default: 3 } } },
};
const accept: ServerAnswer = async () => ({ action: 'accept', content: {} });

describe('what a server asks is answered', () => {
  test.each([
    ['ping', undefined, {}, { result: {} }],
    [
      'roots/list',
      undefined,
      { 'roots/list': async () => ({ roots: [{ uri: 'file:///a' }] }) },
      { result: { roots: [{ uri: 'file:///a' }] } },
    ],
    [
      'elicitation/create',
      form,
      { 'elicitation/create': accept },
      { result: { action: 'accept', content: { n: 3 } } },
    ],
    [
      'sampling/createMessage',
      { messages: [], maxTokens: 5 },
      {
        'sampling/createMessage': async () => ({
          role: 'assistant',
          model: 'm',
          content: { type: 'text', text: 'hi' },
        }),
      },
      { result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } } },
    ],
  ] as [string, object | undefined, Record<string, ServerAnswer>, object][])(
    '%s',
    async (method, params, answers, answer) => {
      expect(await ask(method, params, answers)).toEqual(answer);
    },
  );
});

describe('what cannot be answered is refused', () => {
  const broken: ServerAnswer = async () => {
    throw Object.assign(new Error('nobody is at the desk'), { data: { password: 'x' } });
  };
  test.each([
    ['a method nobody answers', 'roots/list', undefined, {}, -32601],
    ['a method nobody knows', 'secrets/list', undefined, {}, -32601],
    [
      'a mode nobody knows',
      'elicitation/create',
      { ...form, mode: 'telepathy' },
      { 'elicitation/create': accept },
      -32602,
    ],
    [
      'a mode that is not offered',
      'elicitation/create',
      { message: 'Go', mode: 'url', url: 'http://h.test/', elicitationId: 'e' },
      { 'elicitation/create': accept },
      -32602,
    ],
    ['a handler that throws', 'roots/list', undefined, { 'roots/list': broken }, -32603],
    [
      'a handler that refuses by itself',
      'roots/list',
      undefined,
      {
        'roots/list': async () => {
          throw new RpcFault(INVALID_PARAMS, 'mine');
        },
      },
      -32602,
    ],
  ] as [string, string, object | undefined, Record<string, ServerAnswer>, number][])(
    '%s',
    async (_, method, params, answers, code) => {
      const answer = await ask(method, params, answers);
      expect(answer).toMatchObject({ error: { code } });
      expect(JSON.stringify(answer)).not.toMatch(/password|\.ts:| {4}at /);
    },
  );
});

test('at most 64 questions of one server are worked on at once; the rest is refused', async () => {
  const begun: PromiseWithResolvers<Record<string, unknown>>[] = [];
  const sampling: ServerAnswer = () => {
    const one = Promise.withResolvers<Record<string, unknown>>();
    begun.push(one);
    return one.promise;
  };
  const answer = readyOffer({ capabilities: {}, answers: { 'sampling/createMessage': sampling } }).answers[
    'sampling/createMessage'
  ] as ServerAnswer;
  const { signal } = new AbortController();
  const asked = Array.from({ length: 100 }, () => answer({}, signal));
  const refused = await Promise.allSettled(asked.slice(64));
  expect(begun).toHaveLength(64);
  expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
  await expect(asked[64]).rejects.toThrow('only 64 requests are answered at once; ask again later');
  begun[0]?.resolve({});
  begun[1]?.reject(new Error('no'));
  await Promise.allSettled(asked.slice(0, 2));
  void answer({}, signal);
  void answer({}, signal);
  await expect(answer({}, signal)).rejects.toThrow('only 64');
  expect(begun).toHaveLength(66);
});

describe('only what is answered is declared', () => {
  test.each([
    ['nothing', {}, {}],
    ['roots', { 'roots/list': accept }, { roots: {} }],
    [
      'forms, whose defaults are filled in',
      { 'elicitation/create': accept },
      { elicitation: { form: { applyDefaults: true } } },
    ],
  ])('%s', async (_, answers, capabilities) => {
    const offer = { capabilities: { sampling: {} }, answers };
    await using far = await open(asking, testWorld({ offerTo: () => offer }));
    const { content } = await far.connection.callTool('offered', {});
    expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual(capabilities);
  });

  test('one that shows pages only gets no forms', () => {
    const offer = { capabilities: { elicitation: { url: {} } }, answers: { 'elicitation/create': accept } };
    expect(readyOffer(offer).capabilities).toEqual({ elicitation: { url: {} } });
  });
});

test('what a server says by itself reaches whoever listens, and what nobody knows harms nobody', async () => {
  const logs: ServerLog[] = [];
  await using far = await open(asking, testWorld({ onLog: (_, entry) => logs.push(entry) }));
  const notices: unknown[] = [];
  const changes: string[] = [];
  far.connection.onNotice?.((method, params) => notices.push([method, params]));
  far.connection.onListChanged((kind) => changes.push(kind));
  far.connection.onListChanged(() => {
    throw new Error('a bad listener');
  });
  const first = [
    ...['tools', 'prompts', 'resources'].map((list) => ({ method: `notifications/${list}/list_changed` })),
    { method: 'notifications/message', params: { level: 'error', logger: 'db', data: { n: 1 } } },
    { method: 'notifications/message', params: {} },
    { method: 'selection_changed', params: { text: 'x' } },
    { method: 'notifications/elicitation/complete', params: { elicitationId: 'e' } },
    { method: 'notifications/progress', params: { progressToken: 99, progress: 1 } },
    { method: 'notifications/cancelled', params: { requestId: 5 } },
    { id: 4711, result: {} },
    { id: null, error: { code: -32700, message: 'parse' } },
  ];
  expect(await far.connection.callTool('say', { first })).toMatchObject({ content: [{ text: '"done"' }] });
  expect(logs).toEqual([
    { level: 'error', logger: 'db', data: { n: 1 } },
    { level: 'info', data: undefined },
  ]);
  expect(changes).toEqual(['tools', 'prompts', 'resources']);
  expect(notices).toContainEqual(['selection_changed', { text: 'x' }]);
});
