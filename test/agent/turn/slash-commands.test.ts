import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { keepResults, lastingStore } from '../../../src/agent/results/result-files.ts';
import { expandCommand, listCommands, promptCommands } from '../../../src/agent/turn/slash-commands.ts';
import type { PromptMessage } from '../../../src/mcp/features/feature-results.ts';
import type { Features } from '../../../src/mcp/features/features.ts';
import type { Server } from '../../../src/mcp/servers/server-status.ts';
import type { ContentBlock } from '../../../src/protocol/mcp.ts';

type Asked = { server: string; prompt: string; args: unknown };

/** A server `my docs` with prompts, each of which returns these messages. */
function docs(said: PromptMessage[] | Error, { directory = '/nowhere', builtIns = ['Read'] } = {}) {
  const asked: Asked[] = [];
  const getPrompt: Features['getPrompt'] = async (server, prompt, args) => {
    asked.push({ server, prompt, args });
    if (said instanceof Error) throw said;
    return { messages: said };
  };
  const connection = {} as never;
  const state = { kind: 'connected' as const, connection, tools: [], prompts: PROMPTS };
  const all: ReadonlyMap<string, Server> = new Map([
    ['down', { entry: { command: 'x' }, origin: 'config', state: { kind: 'pending' } }],
    ['my docs', { entry: { command: 'x' }, origin: 'config', state }],
  ]);
  const world = {
    servers: { all },
    features: { getPrompt },
    results: keepResults(lastingStore(directory)),
    builtIns: builtIns.map((name) => ({ listed: { name } })),
  };
  return { world, asked };
}

const PROMPTS = [
  {
    name: 'find it',
    description: 'Finds',
    arguments: [
      { name: 'what', required: true },
      { name: 'where', required: false },
    ],
  },
  { name: 'plain', description: '', arguments: [] },
];
const never = new AbortController().signal;
const user = (content: ContentBlock): PromptMessage => ({ role: 'user', content });
const text = (it: string) => ({ type: 'text' as const, text: it });

test('every prompt of a connected server is a command', () => {
  expect([...promptCommands(docs([]).world.servers.all).values()]).toMatchObject([
    { name: 'mcp__my_docs__find_it', description: 'Finds', argumentHint: '<what> [where]' },
    { name: 'mcp__my_docs__plain', description: '', argumentHint: '' },
  ]);
});

/** Servers with prompts of these names. */
function having(prompts: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, Server> {
  const servers = Object.entries(prompts).map(([key, names]): [string, Server] => {
    const listed = names.map((name) => ({ name, description: `${name} of ${key}`, arguments: [] }));
    const state = { kind: 'connected' as const, connection: {} as never, tools: [], prompts: listed };
    return [key, { entry: { command: 'x' }, origin: 'config', state }];
  });
  return new Map(servers);
}

/** Which prompt each command stands for. */
const meant = (servers: ReadonlyMap<string, Server>) =>
  Object.fromEntries(Array.from(promptCommands(servers), ([name, { description }]) => [name, description]));

test.each([
  [
    'servers whose keys and prompts read the same',
    { a__b: ['c'], a: ['b__c'] },
    { mcp__a__b__c: 'b__c of a', mcp__a__b__c_0390b39e: 'c of a__b' },
  ],
  [
    'keys that become the same',
    { x_y: ['p'], 'x y': ['p'] },
    { mcp__x_y__p: 'p of x y', mcp__x_y__p_730b9865: 'p of x_y' },
  ],
  [
    'prompts of one server',
    { s: ['x_y', 'x y', 'x.y'] },
    { mcp__s__x_y: 'x y of s', mcp__s__x_y_2dc43441: 'x.y of s', mcp__s__x_y_31009dd7: 'x_y of s' },
  ],
])('%s: one prompt keeps the name, the others get stable aliases', (_, prompts, expected) => {
  expect(meant(having(prompts))).toEqual(expected);
  expect(meant(new Map([...having(prompts)].reverse()))).toEqual(expected);
});

test('every prompt has a unique command that expands to it', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', '_', ' ', '.'), maxLength: 4 });
  const prompts = fc.dictionary(word, fc.uniqueArray(word, { maxLength: 4 }), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(prompts, async (given) => {
      const servers = having(given);
      const commands = promptCommands(servers);
      const pairs = Array.from(commands.values(), ({ server, prompt }) => [server, prompt.name]);
      expect(pairs).toEqual(Object.entries(given).flatMap(([key, names]) => names.map((it) => [key, it])));
      const { world, asked } = docs([]);
      for (const name of commands.keys())
        await expandCommand(`/${name}`, { ...world, servers: { all: servers } }, never);
      expect(asked.map(({ server, prompt }) => [server, prompt])).toEqual(pairs);
    }),
  );
});

test('an alias is reported once', () => {
  const notes: string[] = [];
  const session = {
    servers: { all: having({ a__b: ['c'], a: ['b__c'] }) },
    options: { note: (text: string) => void notes.push(text) },
  };
  const names = listCommands(session).map(({ name }) => name);
  expect(listCommands(session).map(({ name }) => name)).toEqual(names);
  expect(names).toEqual(['clear', 'compact', 'mcp__a__b__c_0390b39e', 'mcp__a__b__c']);
  expect(notes).toEqual([
    'MCP server "a__b": prompt "c" is available as /mcp__a__b__c_0390b39e, because /mcp__a__b__c is the prompt "b__c" of "a"',
  ]);
});

test.each([
  ['/mcp__my_docs__find_it a', 'find it', { what: 'a' }],
  ['  /mcp__my_docs__find_it   a   b  ', 'find it', { what: 'a', where: 'b' }],
  ['/mcp__my_docs__find_it "a b" c d', 'find it', { what: 'a b', where: 'c d' }],
  ['/mcp__my_docs__find_it a\nin\nlines', 'find it', { what: 'a', where: 'in lines' }],
  ['/mcp__my_docs__plain too much', 'plain', {}],
])('%j requests %s with %j', async (line, prompt, args) => {
  const { world, asked } = docs([user(text('ok'))]);
  expect(await expandCommand(line, world, never)).toEqual({ blocks: [text('ok')] });
  expect(asked).toEqual([{ server: 'my docs', prompt, args }]);
});

test.each(['/mcp__my_docs__find_it', '/mcp__my_docs__find_it "" b'])(
  '%j without a required argument is rejected before the server is asked',
  async (line) => {
    const { world, asked } = docs([]);
    const fault =
      '/mcp__my_docs__find_it requires the argument <what>; usage: /mcp__my_docs__find_it <what> [where]';
    expect(await expandCommand(line, world, never)).toEqual({ fault });
    expect(asked).toEqual([]);
  },
);

test.each(['/mcp__my_docs__none', '/mcp__down__x', '/clear', 'mcp__my_docs__plain', '', '/', '/constructor'])(
  '%j is not a command of a server',
  async (line) => {
    const { world, asked } = docs([]);
    expect(await expandCommand(line, world, never)).toBeUndefined();
    expect(asked).toEqual([]);
  },
);

test.each([
  [
    'a text resource',
    [user({ type: 'resource', resource: { uri: 'x:1', text: 'inside' } })],
    [text('[Resource from my docs at x:1] inside')],
  ],
  [
    'a link',
    [user({ type: 'resource_link', uri: 'x:1', name: 'one' })],
    [text(expect.stringContaining('x:1') as unknown as string)],
  ],
  [
    'an unknown command',
    [user({ type: 'hologram', depth: 3 } as never)],
    [text(expect.stringMatching(/hologram.*"depth":3/s) as unknown as string)],
  ],
  [
    'a conversation',
    [user(text('a')), { role: 'assistant' as const, content: text('b') }, user(text('c')), user(text('d'))],
    [text('a'), text('[assistant:]'), text('b'), text('[user:]'), text('c'), text('d')],
  ],
  ['nothing', [], [text('(/mcp__my_docs__plain returned no messages)')]],
])('a prompt that returns %s', async (_, messages, blocks) => {
  expect(await expandCommand('/mcp__my_docs__plain', docs(messages).world, never)).toEqual({ blocks });
});

test('images are sent as images; other binary data is stored in a named file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'prompts-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const messages = [
    user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
    user({ type: 'resource', resource: { uri: 'x:1', blob: PIXEL, mimeType: 'image/png' } }),
    user({ type: 'resource', resource: { uri: 'x:2', blob: 'AAEC', mimeType: 'application/zip' } }),
    user({ type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }),
  ];
  const expanded = await expandCommand('/mcp__my_docs__plain', docs(messages, { directory }).world, never);
  const blocks = expanded && 'blocks' in expanded ? expanded.blocks : [];
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
  expect(blocks.filter(({ type }) => type === 'image')).toEqual([image, image]);
  const words = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  expect(words).toContain('[Resource from my docs at x:1]');
  expect(words).toMatch(/\[Resource from my docs at x:2\].*application\/zip.*3 bytes/);
  expect(words).toMatch(/\[Audio from my docs\].*audio\/wav.*3 bytes/);
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('reports the error of a server that refuses its prompt', async () => {
  const { world } = docs(new Error('not today'));
  expect(await expandCommand('/mcp__my_docs__plain', world, never)).toEqual({
    fault: 'The prompt plain of my docs could not be read: not today',
  });
});
