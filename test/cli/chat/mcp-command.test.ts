import { expect, test } from 'vitest';
import { mcpCommand, serverList } from '../../../src/cli/chat/mcp-command.ts';
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
    'No servers. Add one with /mcp add <name> <url or command>, or use --mcp-config <file>.',
  ]);
});

test('a server that needs a sign-in is shown with the command for it', () => {
  const server = { name: 'my docs', status: 'needs-auth' as const, error: 'the server requires a sign-in' };
  expect(text(serverList([server]))).toEqual([
    '  my docs  needs-auth',
    '    sign in with /mcp login my docs',
    '    the server requires a sign-in',
  ]);
});

test.each([
  [true, 'Sign in to my docs in the browser. If it does not open, use this address:'],
  [false, 'To sign in to my docs, open this address in a browser:'],
])('/mcp login shows the address and opens it in a browser (%s)', async (hasBrowser, first) => {
  const authUrl = 'https://login.test/authorize?state=1';
  const opened: string[] = [];
  const client = {
    mcpServerStatus: async () => [{ name: 'my docs', status: 'needs-auth' as const }],
    mcpAuthenticate: async () => ({ requiresUserAction: true, authUrl }),
  };
  const shown = await mcpCommand(client as never, 'login my docs', {
    open: (url) => {
      opened.push(url.href);
      return hasBrowser;
    },
  });
  expect(text(shown).slice(0, 4)).toEqual([first, '', `  ${authUrl}`, '']);
  expect(text(shown)[4]).toContain('/mcp login my docs <address>');
  expect(opened).toEqual([authUrl]);
});
