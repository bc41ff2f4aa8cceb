import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { Chat } from '../../../src/cli/chat/chat.ts';
import { openAgent } from '../../../src/cli/chat/conversation.ts';
import { toolServer } from '../../../src/entry/index.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import type { Script } from '../../support/model-api/messages-api.ts';
import { text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { openAgentSandbox } from '../support/agent-sandbox.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';
import { jsonFile } from '../support/json-file.ts';

const calc = () =>
  toolServer('calc').tool('add', 'Add', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

/** A chat with the built-in agent and a scripted model. */
async function talk(
  terminal: FakeTerminal,
  script: Script,
  options: Options = {},
): Promise<{ left: Promise<number> }> {
  const sandbox = await openAgentSandbox(script);
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const chat = new Chat(terminal, openAgent);
  onTestFinished(() => chat[Symbol.asyncDispose]());
  const { cwd, env } = sandbox;
  const own = { extraArgs: { 'report-decisions': null }, mcpServers: { calc: calc() }, tools: [] };
  const left = chat.run({ cwd, env, ...own, ...options });
  left.catch(() => {});
  return { left };
}

test('shows the texts, parallel calls and results of a reply with several blocks', async () => {
  const terminal = new FakeTerminal({ isInteractive: false });
  const script = [
    together(
      text('Let me ', 'add.'),
      toolUse('mcp__calc__add', { a: 2, b: 40 }),
      toolUse('mcp__calc__add', { a: 1, b: 'one' }),
    ),
    together(text('The first is 42.'), text('The second has no sum.')),
  ];
  const { left } = await talk(terminal, script, { allowedTools: ['mcp__calc'] });
  terminal.input.end('go\n');
  expect(await left).toBe(0);
  expect(terminal.printed.split('\n')).toEqual([
    'Let me add.',
    '● mcp__calc__add a: 2, b: 40',
    '● mcp__calc__add a: 1, b: one',
    '  ✓ mcp__calc__add 0.0 s 42',
    expect.stringMatching(/^ {2}✗ failed mcp__calc__add 0\.0 s \S/),
    expect.stringMatching(/^ {6}\S/),
    expect.stringMatching(/^ {8}\S/),
    expect.stringMatching(/^ {4}… \d+ more lines \(Ctrl-O or \/expand shows them\)$/),
    'The first is 42.',
    'The second has no sum.',
    '',
  ]);
});

test('/explain names the decider; /compact goes to the agent, /clear to the chat', async () => {
  const terminal = new FakeTerminal();
  const call = (a: number) => ({ tool: 'mcp__calc__add', input: { a, b: 1 } });
  const replies = [call(1), call(2), call(3), 'Done.', 'We added.'];
  await talk(terminal, [], { model: `scripted:${jsonFile(JSON.stringify(replies))}` });
  await terminal.prompt();
  terminal.type('go\r');
  const question = await terminal.shows(/\nallow\?$/);
  expect(question).toContain('mcp__calc__add of server calc (in this program)\n');
  expect(question).toContain('  a always: allow mcp__calc__add for this conversation\n');
  terminal.type('y\r');
  await terminal.until('✓ mcp__calc__add');
  await terminal.shows(/\nallow\?$/);
  terminal.type('n not two\r');
  await terminal.until('⊘ denied mcp__calc__add');
  await terminal.shows(/\nallow\?$/);
  terminal.type('a\r');
  await terminal.until('Done.');
  await terminal.prompt();
  terminal.type('/explain add\r');
  await terminal.until('mcp__calc__add: succeeded\n');
  const asked = '  approval required: mcp__calc__add may be destructive\n';
  expect(await terminal.prompt()).toContain(
    [
      `${asked}  allowed by you, once\n`,
      `mcp__calc__add: denied\n${asked}  denied by you: not two\n`,
      `mcp__calc__add: succeeded\n${asked}  allowed by you, always\n`,
    ].join(''),
  );
  terminal.type('/help\r');
  const help = await terminal.prompt();
  expect(help.match(/\/clear\b/g)).toHaveLength(1);
  expect(help).toMatch(/from the agent: \/compact\n/);
  terminal.type('/compact the sums\r');
  await terminal.until('The conversation was compacted\n');
  await terminal.prompt();
  terminal.type('/clear\r');
  await terminal.until('New conversation.');
});
