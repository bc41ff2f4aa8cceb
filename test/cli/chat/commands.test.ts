import { expect, test } from 'vitest';
import { COMMANDS, readCommand } from '../../../src/cli/chat/commands.ts';
import { openChat, system } from './open-chat.ts';
import { text } from './text.ts';

test.each([
  ['hello', 'prompt'],
  ['/mcp', 'own'],
  ['/explain  last ', 'own'],
  ['/mcp__docs__summary all', 'prompt'],
  ['/review', 'prompt'],
  ['/compact the plan', 'prompt'],
  ['/clear', 'own'],
  ['/ not a command', 'prompt'],
  ['/toolz', 'unknown'],
  ['/constructor', 'unknown'],
])('%j is %s', (typed, kind) => {
  expect(readCommand(typed, ['review', 'clear', 'compact'])).toMatchObject({ kind });
});

test('an unknown command names the nearest one', () => {
  const read = readCommand('/toolz', []);
  expect(read.kind === 'unknown' && text(read.pieces)).toEqual([
    'There is no command /toolz. Did you mean /tools?',
  ]);
});

test('arguments are what follows', () => {
  expect(readCommand('/explain  last ', [])).toEqual({
    kind: 'own',
    command: COMMANDS.explain,
    argument: 'last',
  });
});

test('/help lists every command once, and those that only the agent has', async () => {
  const { terminal } = await openChat();
  terminal.type('/help\r');
  const shown = await terminal.until('› ');
  for (const name of Object.keys(COMMANDS)) expect(shown.split(`/${name} `)).toHaveLength(2);
  expect(shown).toContain('from the agent: /compact /mcp__docs__summary\n');
});

test('/mcp reconnect asks for it, then shows how the servers are', async () => {
  const { terminal, agent } = await openChat();
  terminal.type('/mcp reconnect docs\r');
  expect(await agent.answer('mcp_reconnect')).toMatchObject({ serverName: 'docs' });
  await agent.answer('mcp_status', { mcpServers: [{ name: 'docs', status: 'connected', tools: [] }] });
  await terminal.until('docs  connected  0 tools');
});

test('/cost does without an account of the context', async () => {
  const { terminal, agent } = await openChat();
  terminal.type('/cost\r');
  await agent.answer('get_context_usage', { error: 'Unsupported control request subtype' });
  expect(await terminal.until('› ')).toMatch(/tokens {3}0 in, 0 out[\s\S]*money {4}not known/);
});

test('/model and /mode tell what is and change it; what is no mode is not sent', async () => {
  const { terminal, agent } = await openChat();
  terminal.type('/model\r');
  expect(await terminal.until('› ')).toMatch(/Model: the first turn will tell\n {2}there are opus/);
  terminal.type('hi\r');
  await agent.prompt();
  agent.agent.say(system('init', { tools: [], mcp_servers: [], model: 'opus', permissionMode: 'plan' }));
  await agent.answer('mcp_status', { mcpServers: [] });
  agent.result('hi');
  await terminal.until('› ');
  terminal.type('/model\r');
  await terminal.until('Model: opus');
  await terminal.until('› ');
  terminal.type('/mode\r');
  await terminal.until('Permission mode: plan');
  await terminal.until('› ');
  terminal.type('/mode yolo\r');
  await terminal.until('There is no mode yolo');
  await terminal.until('› ');
  terminal.type('/mode acceptedits\r');
  expect(await agent.answer('set_permission_mode')).toMatchObject({ mode: 'acceptEdits' });
  await terminal.until('Permission mode: acceptEdits');
});
