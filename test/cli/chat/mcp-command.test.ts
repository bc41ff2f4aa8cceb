import { expect, test } from 'vitest';
import { serverList } from '../../../src/cli/chat/mcp-command.ts';
import { text } from './support/text.ts';

test('lists every server with state, tools and error', () => {
  const servers = [
    {
      name: 'docs',
      status: 'connected' as const,
      tools: [{ name: 'search' }],
      serverInfo: { name: 'd', version: '2' },
    },
    { name: 'deployment', status: 'failed' as const, error: 'spawn deploy ENOENT' },
    { name: 'late', status: 'pending' as const, config: { command: 'x' } },
    { name: 'wiki', status: 'pending' as const, config: { command: 'x', start: 'on-demand' as const } },
    { name: 'blog', status: 'disabled' as const, config: { command: 'x', start: 'on-demand' as const } },
  ];
  expect(text(serverList(servers))).toEqual([
    '  docs        connected  1 tool  d 2',
    '  deployment  failed',
    '    spawn deploy ENOENT',
    '  late        pending',
    '  wiki        idle (the model connects it with connect_mcp)',
    '  blog        disabled',
  ]);
});

test.each([
  ['pending', 'pending approval'],
  ['rejected', 'rejected'],
  ['blocked', 'blocked'],
  ['disabled', 'disabled'],
  ['broken', 'broken'],
  ['constructor', 'disabled'],
])('a configured server that is %s is shown with the word of mcp list', (configured, word) => {
  const server = { name: 's', status: 'disabled' as const, error: 'why', configured };
  expect(text(serverList([server]))).toEqual([`  s  ${word}`, '    why']);
});

test('without servers, shows how to add one', () => {
  expect(text(serverList([]))).toEqual([
    'No servers. Add one with toolplane mcp add, or use --mcp-config <file>.',
  ]);
});
