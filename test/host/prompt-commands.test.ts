import { expect, test } from 'vitest';
import { expandCommand, promptCommands } from '../../src/host/prompt-commands.ts';
import type { Server } from '../../src/host/servers/server.ts';

type Asked = { method: string; params: Record<string, unknown> };

/** A server `my docs` with these prompts, that answers every question with this. */
function docs(answer: unknown, prompts = PROMPTS) {
  const asked: Asked[] = [];
  const connection = {
    ask: async (method: string, params: Record<string, unknown>) => {
      asked.push({ method, params });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as never;
  const state = { kind: 'connected' as const, connection, tools: [], prompts };
  const servers: ReadonlyMap<string, Server> = new Map([
    ['down', { entry: { command: 'x' }, origin: 'config', state: { kind: 'pending' } }],
    ['my docs', { entry: { command: 'x' }, origin: 'config', state }],
  ]);
  return { servers, asked };
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
const message = (content: unknown) => ({ messages: [{ role: 'user', content }] });

test('every prompt of a connected server is a command', () => {
  expect(promptCommands(docs({}).servers)).toMatchObject([
    { name: 'mcp__my_docs__find_it', description: 'Finds', argumentHint: '<what> [where]' },
    { name: 'mcp__my_docs__plain', description: '', argumentHint: '' },
  ]);
});

test.each([
  ['/mcp__my_docs__find_it a', { what: 'a' }],
  ['  /mcp__my_docs__find_it   a   b  ', { what: 'a', where: 'b' }],
  ['/mcp__my_docs__find_it "a b" c d', { what: 'a b', where: 'c d' }],
  ['/mcp__my_docs__find_it a\nin\nlines', { what: 'a', where: 'in lines' }],
  ['/mcp__my_docs__plain too much', {}],
])('%j is asked with %j', async (text, expected) => {
  const { servers, asked } = docs(message({ type: 'text', text: 'ok' }));
  expect(await expandCommand(text, servers, never)).toEqual({ blocks: [{ type: 'text', text: 'ok' }] });
  expect(asked).toMatchObject([{ method: 'prompts/get', params: { arguments: expected } }]);
});

test.each(['/mcp__my_docs__find_it', '/mcp__my_docs__find_it "" b'])(
  '%j lacks what the prompt needs: the user is told, nobody else is asked',
  async (text) => {
    const { servers, asked } = docs({});
    const fault = '/mcp__my_docs__find_it needs <what>: /mcp__my_docs__find_it <what> [where]';
    expect(await expandCommand(text, servers, never)).toEqual({ fault });
    expect(asked).toEqual([]);
  },
);

test.each(['/mcp__my_docs__none', '/mcp__down__x', '/clear', 'mcp__my_docs__plain', '', '/', '/constructor'])(
  '%j is no command of a server',
  async (text) => {
    const { servers, asked } = docs({});
    expect(await expandCommand(text, servers, never)).toBeUndefined();
    expect(asked).toEqual([]);
  },
);

test.each([
  ['a text resource', message({ type: 'resource', resource: { uri: 'x:', text: 'inside' } }), 'inside'],
  ['something else', message({ type: 'audio', data: '' }), '[audio content]'],
  ['nothing', { messages: [] }, '(/mcp__my_docs__plain gave nothing)'],
  ['garbage', 7, '(/mcp__my_docs__plain gave nothing)'],
  ['a message that is none', { messages: [null, { content: 'x' }] }, '(/mcp__my_docs__plain gave nothing)'],
])('a prompt that gives %s', async (_, answer, text) => {
  expect(await expandCommand('/mcp__my_docs__plain', docs(answer).servers, never)).toEqual({
    blocks: [{ type: 'text', text }],
  });
});

test('a server that refuses its prompt is told to the user', async () => {
  const { servers } = docs(new Error('not today'));
  expect(await expandCommand('/mcp__my_docs__plain', servers, never)).toEqual({
    fault: 'The prompt plain of my docs could not be had: not today',
  });
});
