import { expect, test } from 'vitest';
import { systemPrompt } from '../../../src/agent/turn/system-prompt.ts';
import type { Server, ServerView } from '../../../src/mcp/servers/server-status.ts';
import { pool } from '../../pool/pool-of.ts';

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

const SEARCH =
  'Servers offer more tools than you received. ToolSearch finds them by what they do and loads them; a tool whose name you know can also be called directly.';
const NONE = { own: '', append: '', servers: servers({}), canConnect: true, searchable: [] };

test.each([
  ['nothing at all', NONE, ''],
  ['what the program says', { ...NONE, own: 'Own.', append: 'More.' }, 'Own.\n\nMore.'],
  [
    'what servers say of themselves',
    { ...NONE, own: 'Own.', servers: servers({ a: ' Use a. ', quiet: '', b: 'Use b.' }) },
    'Own.\n\n# MCP servers\nInstructions from the servers on how to use their tools:\n\n## a\nUse a.\n\n## b\nUse b.',
  ],
  [
    'who can be called',
    {
      ...NONE,
      servers: servers({ a: { kind: 'waiting' }, b: { kind: 'failed', fault: 'x' }, c: { kind: 'waiting' } }),
    },
    '# Servers you can connect\nNot connected yet: a, c. connect_mcp connects a server by its name; its tools are available afterwards.',
  ],
  [
    'tools that have to be searched for',
    { ...NONE, searchable: pool([], { b: ['x'], a: ['y', 'z'] }).tools },
    `# Tools you can search for\n${SEARCH}\nmcp__a__y, mcp__a__z, mcp__b__x`,
  ],
  [
    'no tool to connect with',
    { ...NONE, canConnect: false, servers: servers({ a: { kind: 'waiting' } }) },
    '',
  ],
])('%s', (_, parts, expected) => {
  expect(systemPrompt(parts)).toBe(expected);
});

test('long instructions of a server are truncated', () => {
  const prompt = systemPrompt({ ...NONE, servers: servers({ a: 'x'.repeat(100_000) }) });
  expect(prompt.length).toBeLessThan(4_500);
  expect(prompt.endsWith('… [cut]')).toBe(true);
});

test('for very many tools only their number is listed', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `tool_${at}`);
  const prompt = systemPrompt({ ...NONE, searchable: pool([], { big: many, small: ['x'] }).tools });
  expect(prompt).toContain('By server: big (1000), small (1).');
  expect(prompt.length).toBeLessThan(500);
});

test('invisible text in instructions is removed, and no character is split', () => {
  const hidden = `Use it.\u{e0041}\u202e${'x'.repeat(4_088)}😀😀`;
  const prompt = systemPrompt({ ...NONE, servers: servers({ a: hidden }) });
  expect(prompt).toContain('Use it.xxx');
  expect(prompt.isWellFormed()).toBe(true);
});
