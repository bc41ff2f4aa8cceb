import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHost, type Host } from '../../../src/entry/host.ts';
import { answer, askedOf, odd, tell } from './support/odd.ts';

const RESOURCE = { uri: 'note://1', name: 'one' };
const ALL = {
  capabilities: { resources: {}, prompts: {}, completions: {} },
  answers: {
    'resources/list': { resources: [RESOURCE] },
    'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'note://{n}', name: 'any' }] },
    'resources/read': { contents: [{ uri: 'note://1', text: 'hello' }] },
    'prompts/list': { prompts: [{ name: 'plain' }] },
    'prompts/get': { messages: [] },
    'completion/complete': { completion: { values: [] } },
  },
};

type Use = (host: Host) => Promise<unknown>;
const READ: Use = (host) => host.readResource('odd', 'note://1');
const GET: Use = (host) => host.getPrompt('odd', 'plain');
const COMPLETE: Use = (host) => host.complete('odd', { prompt: 'plain' }, { name: 'a', value: '' });
const SUBSCRIBE: Use = (host) => host.subscribe('odd', 'note://1', () => {});

test('a server that offers none of it: lists are empty, anything else says what is missing', async () => {
  await using host = createHost({ mcpServers: { odd: odd({ ...ALL, capabilities: {} }) } });
  for (const list of [
    host.listResources('odd'),
    host.listResourceTemplates('odd'),
    host.listPrompts('odd'),
    host.listResources(),
  ])
    expect(await list).toEqual([]);
  const cases: [Use, string][] = [
    [READ, 'resources'],
    [GET, 'prompts'],
    [COMPLETE, 'completion'],
    [SUBSCRIBE, 'subscriptions to resources'],
  ];
  for (const [use, what] of cases)
    await expect(use(host)).rejects.toMatchObject({
      name: 'HostError',
      server: 'odd',
      hasRun: 'no',
      message: `MCP server "odd": the server does not offer ${what}`,
    });
  expect(await askedOf(host)).toEqual([]);
});

const WRONG: [string, Use, unknown, string][] = [
  ['resources/read', READ, {}, '"contents" must be a list'],
  ['resources/read', READ, { contents: {} }, '"contents" must be a list'],
  ['resources/read', READ, { contents: [{ uri: 'a:', text: '' }, null] }, 'contents[1]: not an object'],
  ['resources/read', READ, { contents: [{ uri: 'a:' }] }, 'contents[0]: has neither "text" nor "blob"'],
  ['resources/read', READ, { contents: [{ uri: 'a:', blob: [1] }] }, 'contents[0]: "blob" must be a base64'],
  ['prompts/get', GET, { messages: 'hello' }, '"messages" must be a list'],
  ['prompts/get', GET, { messages: [{ role: 'system', content: {} }] }, 'messages[0]: "role" must be'],
  ['prompts/get', GET, { messages: [{ role: 'user', content: 'hi' }] }, 'messages[0]: "content": must be'],
  ['completion/complete', COMPLETE, { values: ['a'] }, '"completion.values" must be a list of strings'],
  ['completion/complete', COMPLETE, { completion: { values: [7] } }, '"completion.values" must be a list'],
];

test('a malformed result is a HostError with the reason, and the server stays connected', async () => {
  await using host = createHost({ mcpServers: { odd: odd(ALL) } });
  for (const [method, use, wrong, fault] of WRONG) {
    await answer(host, method, wrong);
    const start = `MCP server "odd": its response to "${method}" is malformed: ${fault}`;
    await expect(use(host)).rejects.toMatchObject({
      name: 'HostError',
      code: 'unreachable',
      message: expect.stringContaining(start),
    });
  }
  expect(host.status().odd?.state).toBe('connected');
});

test('a server that cannot list, and invalid entries, are reported without affecting the others', async () => {
  const broken = {
    ...ALL.answers,
    'resources/list': { error: { code: -32603, message: 'the disk is full' } },
  };
  const half = { ...ALL.answers, 'resources/list': { resources: [RESOURCE, { name: 'no address' }] } };
  await using host = createHost({
    mcpServers: {
      broken: odd({ ...ALL, answers: broken }),
      half: odd({ ...ALL, answers: half }),
      bare: odd({ capabilities: {} }),
      odd: odd(ALL),
    },
  });
  await host.ready();
  const warnings: string[] = [];
  using _ = host.events.on((event) => {
    if (event.type === 'warning') warnings.push(`${event.server}: ${event.message}`);
  });
  expect(await host.listResources()).toEqual([
    { ...RESOURCE, server: 'half' },
    { ...RESOURCE, server: 'odd' },
  ]);
  expect(warnings).toHaveLength(2);
  expect(warnings).toContain('broken: its resources could not be listed: the disk is full');
  expect(warnings).toContainEqual(expect.stringMatching(/^half: resource "no address": .*not offered$/));
  await expect(host.listResources('broken')).rejects.toMatchObject({ name: 'ServerFault', code: -32603 });
});

test('a server with resources may lack templates', async () => {
  const { 'resources/templates/list': _, ...answers } = ALL.answers;
  await using host = createHost({ mcpServers: { odd: odd({ ...ALL, answers }) } });
  expect(await host.listResourceTemplates('odd')).toEqual([]);
});

test('a list is requested once until the server reports a change', async () => {
  const capabilities = { resources: { listChanged: true }, prompts: { listChanged: true } };
  await using host = createHost({ mcpServers: { odd: odd({ ...ALL, capabilities }) } });
  const lists = async () => (await askedOf(host)).filter((it) => it === 'resources/list').length;
  await host.ready();
  await Promise.all([host.listResources('odd'), host.listResources(), host.listResources('odd')]);
  expect(await lists()).toBe(1);
  await tell(host, 'notifications/prompts/list_changed');
  await host.listResources('odd');
  expect(await lists()).toBe(1);
  await tell(host, 'notifications/resources/list_changed');
  await host.listResources('odd');
  expect(await lists()).toBe(2);
  await host.reconnect('odd');
  await host.listResources('odd');
  expect(await lists()).toBe(1);
});

test('reading changes nothing, so it is repeated after a lost connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'features-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entry = odd({ ...ALL, diesOnceAt: 'resources/read', marker: join(folder, 'died') });
  await using host = createHost({ mcpServers: { odd: entry }, retry: { firstMs: 1 } });
  expect(await host.readResource('odd', 'note://1')).toEqual({
    contents: [{ uri: 'note://1', text: 'hello' }],
  });
});

test('reading from an idle server connects it', async () => {
  await using host = createHost({ mcpServers: { odd: { ...odd(ALL), start: 'on-demand' } } });
  expect(await host.listResources()).toEqual([]);
  expect(await host.listResources('odd')).toEqual([{ ...RESOURCE, server: 'odd' }]);
});

test('limits are those of calls: of the request, of the host, and the signal', async () => {
  const hangs = ['resources/read', 'resources/list', 'resources/subscribe'];
  const capabilities = { resources: { subscribe: true } };
  await using host = createHost({
    mcpServers: { odd: odd({ ...ALL, capabilities, hangs }) },
    callTimeoutMs: 300,
  });
  await host.ready();
  const late = { name: 'HostError', code: 'timeout' };
  await Promise.all([
    expect(host.readResource('odd', 'note://1', { timeoutMs: 20 })).rejects.toMatchObject(late),
    expect(host.readResource('odd', 'note://1')).rejects.toMatchObject(late),
    expect(host.subscribe('odd', 'note://1', () => {}, { timeoutMs: 20 })).rejects.toMatchObject({
      ...late,
      message:
        'MCP server "odd": subscribing to note://1 timed out after 20 ms; raise timeoutMs of the call if it may take longer',
    }),
    expect(host.listResources('odd')).rejects.toMatchObject({
      ...late,
      message: expect.stringContaining('listing its resources timed out after 300 ms; raise callTimeoutMs'),
    }),
  ]);
  const over = new AbortController();
  const reads = [
    host.readResource('odd', 'note://1', { signal: over.signal }),
    host.listResources('odd', { signal: over.signal }),
    host.listResources(undefined, { signal: over.signal }),
  ];
  over.abort();
  for (const read of reads) await expect(read).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['an address', (host: Host) => host.readResource('odd', '' as never), '"uri" must be a non-empty string'],
  ['a server', (host: Host) => host.listPrompts(7 as never), '"server" must be a non-empty string'],
  [
    'texts',
    (host: Host) => host.getPrompt('odd', 'plain', { n: 7 } as never),
    '"args" must be an object whose values are strings',
  ],
  [
    'a listener',
    (host: Host) => host.subscribe('odd', 'a:', undefined as never),
    '"listener" must be a function',
  ],
  ['one of two', (host: Host) => host.complete('odd', {} as never, { name: 'a', value: '' }), '"of" must be'],
  ['options', (host: Host) => host.readResource('odd', 'a:', { timeout: 1 } as never), 'timeoutMs'],
])('rejects invalid parameters: %s', async (_, use, words) => {
  await using host = createHost();
  await expect(use(host)).rejects.toMatchObject({
    code: 'bad-config',
    message: expect.stringContaining(words),
  });
});

test('an unknown server, and a closed host', async () => {
  const host = createHost({ mcpServers: { odd: odd(ALL) } });
  await expect(host.readResource('od', 'note://1')).rejects.toMatchObject({
    code: 'unknown-server',
    message: 'MCP server "od": unknown server; available: odd',
  });
  await host.close();
  for (const use of [READ, GET, COMPLETE, SUBSCRIBE, (it: Host) => it.listResources()])
    await expect(use(host)).rejects.toMatchObject({ code: 'closed' });
});
