import { expect, test } from 'vitest';
import type { Server, ServerView } from '../../src/host/servers/server.ts';
import { systemPrompt } from '../../src/host/system-prompt.ts';

function servers(states: Record<string, ServerView | string>): ReadonlyMap<string, Server> {
  return new Map(
    Object.entries(states).map(([name, state]) => {
      const connection = { instructions: state } as never;
      const known: ServerView =
        typeof state === 'string' ? { kind: 'connected', connection, tools: [], prompts: [] } : state;
      return [name, { entry: { command: 'x' }, origin: 'config', state: known }];
    }),
  );
}

const NONE = { own: '', append: '', servers: servers({}), canConnect: true };

test.each([
  ['nothing at all', NONE, ''],
  ['what the program says', { ...NONE, own: 'Own.', append: 'More.' }, 'Own.\n\nMore.'],
  [
    'what servers say of themselves',
    { ...NONE, own: 'Own.', servers: servers({ a: ' Use a. ', quiet: '', b: 'Use b.' }) },
    'Own.\n\n# MCP servers\nWhat servers say about the use of their tools:\n\n## a\nUse a.\n\n## b\nUse b.',
  ],
  [
    'who can be called',
    {
      ...NONE,
      servers: servers({ a: { kind: 'waiting' }, b: { kind: 'failed', fault: 'x' }, c: { kind: 'waiting' } }),
    },
    '# Servers you can connect\nconnect_mcp connects one by its name; its tools are there from then on: a, c.',
  ],
  ['nobody to call with', { ...NONE, canConnect: false, servers: servers({ a: { kind: 'waiting' } }) }, ''],
])('%s', (_, parts, expected) => {
  expect(systemPrompt(parts)).toBe(expected);
});

test('a server does not fill the window by talking', () => {
  const prompt = systemPrompt({ ...NONE, servers: servers({ a: 'x'.repeat(100_000) }) });
  expect(prompt.length).toBeLessThan(4_500);
  expect(prompt.endsWith('… [cut]')).toBe(true);
});
