import { describe, expect, test } from 'vitest';
import { usageText } from '../../../src/cli/chat/actions/usage.ts';
import { COMMANDS, expand, explain, parseCommand } from '../../../src/cli/chat/commands.ts';
import { type Call, NOTHING_USED } from '../../../src/cli/chat/view.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';
import { openChat, system } from './support/open-chat.ts';
import { text } from './support/text.ts';

describe('commands', () => {
  test.each([
    ['hello', 'prompt'],
    ['/mcp', 'own'],
    ['/explain  last ', 'own'],
    ['/mcp__docs__summary all', 'prompt'],
    ['/review', 'prompt'],
    ['/compact the plan', 'prompt'],
    ['/clear', 'own'],
    ['/ not a command', 'prompt'],
    ['/etc/hosts is what?', 'prompt'],
    ['/toolz', 'unknown'],
    ['/constructor', 'unknown'],
  ])('%j is %s', (typed, kind) => {
    expect(parseCommand(typed, ['review', 'clear', 'compact'])).toMatchObject({ kind });
  });

  test.each([
    ['/toolz', ' Did you mean /tools?'],
    ['/hlep', ' Did you mean /help?'],
    ['/qiut', ' Did you mean /quit?'],
    ['/exit', ' Did you mean /quit?'],
    ['/mod', ' Did you mean /model?'],
    ['/HELP', ' Did you mean /help?'],
    ['/helpme', ' Did you mean /help?'],
    ['/compct', ' Did you mean /compact?'],
    ['/zzzzz', ''],
  ])('%s is unknown;%s', (typed, hint) => {
    const read = parseCommand(typed, ['compact']);
    expect(read.kind === 'unknown' && text(read.pieces)).toEqual([
      `Unknown command ${typed}.${hint} See /help.`,
    ]);
  });

  test('the argument is the text after the command', () => {
    expect(parseCommand('/explain  last ', [])).toEqual({
      kind: 'own',
      command: COMMANDS.explain,
      argument: 'last',
    });
  });

  test('/help lists every command once, including those of the agent', async () => {
    const { terminal } = await openChat();
    terminal.type('/help\r');
    const shown = await terminal.prompt();
    for (const name of Object.keys(COMMANDS)) expect(shown.split(`\n  /${name} `)).toHaveLength(2);
    expect(shown).toContain('from the agent: /compact /mcp__docs__summary\n');
  });

  test.each([60, 120])('at %d columns, /help shows arguments behind the command', async (columns) => {
    const { terminal } = await openChat({}, new FakeTerminal({ columns }));
    terminal.type('/help\r');
    const shown = await terminal.prompt();
    const blanks = ' '.repeat(24);
    expect(shown).toContain('\n  /explain [tool|last]  why a call');
    expect(shown).toMatch(new RegExp(`\\n  /mcp \\[add <name>[^]*<server>\\]\\n${blanks}server status; add`));
    expect(shown).toMatch(new RegExp(`\\n  Shift-Tab {${24 - 11}}change the permission mode\\n`));
  });

  test.each<[number, string, string]>([
    [0, '', 'No output was shortened.'],
    [1, '2', 'Only one output was shortened: /expand shows it.'],
    [2, '3', '/expand takes a number from 1 (the last output) to 2.'],
    [2, 'x', '/expand takes a number from 1 (the last output) to 2.'],
    [2, '2', 'output 1'],
  ])('with %d shortened outputs, /expand %s shows: %s', (count, argument, first) => {
    const folded = Array.from({ length: count }, (_, at) => ({ name: `output ${at + 1}`, pieces: [] }));
    expect(text(expand(folded, argument))).toEqual([first]);
  });

  const DOCS = { name: 'docs', status: 'connected', tools: [] };
  const DEPLOY = { name: 'deploy', status: 'failed', error: 'it left' };

  test.each([
    ['reconnect docs', 'mcp_reconnect', { serverName: 'docs' }, 'Server docs reconnected.'],
    [
      'disable docs',
      'mcp_toggle',
      { serverName: 'docs', enabled: false },
      'Server docs disabled for this session.',
    ],
    ['Enable  docs ', 'mcp_toggle', { serverName: 'docs', enabled: true }, 'Server docs enabled.'],
    ['reconnect', 'mcp_reconnect', { serverName: 'deploy' }, 'Server deploy reconnected.'],
    ['logout docs', 'mcp_clear_auth', { serverName: 'docs' }, 'Server docs signed out.'],
    [
      'login docs http://127.0.0.1:7/callback?code=a&state=b',
      'mcp_oauth_callback_url',
      { serverName: 'docs', callbackUrl: 'http://127.0.0.1:7/callback?code=a&state=b' },
      'Signed in to docs.',
    ],
    // The answer has no address: the server does not require a sign-in.
    ['login docs', 'mcp_authenticate', { serverName: 'docs' }, 'Signed in to docs.'],
  ])(
    '/mcp %s runs the action, confirms it and lists the servers',
    async (argument, subtype, request, said) => {
      const { terminal, agent } = await openChat();
      terminal.type(`/mcp ${argument}\r`);
      await agent.answer('mcp_status', { mcpServers: [DOCS, DEPLOY] });
      expect(await agent.answer(subtype)).toMatchObject(request);
      await agent.answer('mcp_status', { mcpServers: [DOCS, DEPLOY] });
      await terminal.until(said);
      await terminal.until('connected  0 tools');
    },
  );

  test.each([
    ['disable', '/mcp disable needs a server: /mcp disable <server>. Servers: docs, deploy'],
    ['login', '/mcp login needs a server: /mcp login <server>. Servers: docs, deploy'],
    ['login dcos', 'Unknown server dcos. Did you mean docs? Servers: docs, deploy'],
    ['logn docs', 'Unknown action logn. Did you mean /mcp login? Usage: /mcp ['],
    ['enable dcos', 'Unknown server dcos. Did you mean docs? Servers: docs, deploy'],
    ['reconnect deply', 'Unknown server deply. Did you mean deploy? Servers: docs, deploy'],
    ['recconect', 'Unknown action recconect. Did you mean /mcp reconnect? Usage: /mcp ['],
    ['docs', 'Unknown action docs. Usage: /mcp ['],
  ])('/mcp %s changes nothing and shows the usage', async (argument, said) => {
    const { terminal, agent } = await openChat({}, new FakeTerminal({ columns: 200 }));
    terminal.type(`/mcp ${argument}\r`);
    await agent.answer('mcp_status', { mcpServers: [DOCS, DEPLOY] });
    await terminal.until(said);
  });

  test('/mcp reconnect reports that no server needs it, or names a server that failed', async () => {
    const { terminal, agent } = await openChat({}, new FakeTerminal({ columns: 200 }));
    terminal.type('/mcp reconnect\r');
    await agent.answer('mcp_status', { mcpServers: [DOCS] });
    await terminal.until('No server needs to be reconnected.');
    await terminal.prompt();
    terminal.type('/mcp reconnect\r');
    await agent.answer('mcp_status', { mcpServers: [DOCS, DEPLOY] });
    await agent.answer('mcp_reconnect', { error: 'deploy: still gone' });
    await agent.answer('mcp_status', { mcpServers: [DOCS, DEPLOY] });
    await terminal.until('Server deploy not reconnected: deploy: still gone');
  });

  test('/team lists the teammates with their state and task', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/team\r');
    await terminal.until('No teammates.');
    terminal.type('hi\r');
    await agent.prompt();
    const task = { id: '7', subject: 'write the tests' };
    const teammates = [
      { name: 'ada', state: 'working', task },
      { name: 'bob', state: 'idle' },
    ];
    agent.agent.emit(system('team_changed', { teammates }));
    agent.result('hi');
    await terminal.until('› ');
    terminal.type('/team\r');
    expect(await terminal.until('bob idle')).toContain('ada working #7 write the tests');
  });

  test('/cost works without a context report', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/cost\r');
    await agent.answer('get_context_usage', { error: 'Unsupported control request subtype' });
    expect(await terminal.prompt()).toMatch(/tokens {3}0 in, 0 out[\s\S]*cost {5}\$0\n/);
  });

  test('/model names what short names stand for', async () => {
    const models = [
      { value: 'default', resolvedModel: 'big-1', description: 'Big' },
      { value: 'small', resolvedModel: 'small-2', description: 'Small · cheap' },
    ];
    const { terminal, agent } = await openChat({}, undefined, { model: 'big-1', models });
    terminal.type('/model\r');
    await terminal.shows('› default  current · Big\n  small    Small · cheap\n');
    terminal.type('\u001b[B\r');
    expect(await agent.answer('set_model')).toMatchObject({ model: 'small' });
    await terminal.shows(/The next turn uses small \(small-2\)\.\n─+\n›\n {2}small-2 · /);
  });

  test('/tools lists the built-in tools before the first turn', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/tools\r');
    await agent.answer('mcp_status', { mcpServers: [] });
    await agent.answer('get_context_usage', { systemTools: [{ name: 'Read', tokens: 10 }] });
    await terminal.shows('built in\n  Read\n');
  });

  test('/model and /mode show and change the setting; an unknown mode is not sent', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/model\r');
    await terminal.shows(/Model for the next turns\n› opus/);
    terminal.type('\u001b');
    await terminal.shows(/Model: known after the first turn\n {2}available: opus/);
    terminal.type('hi\r');
    await agent.prompt();
    agent.agent.emit(system('init', { tools: [], mcp_servers: [], model: 'opus', permissionMode: 'plan' }));
    await agent.answer('mcp_status', { mcpServers: [] });
    agent.result('hi');
    await terminal.prompt();
    terminal.type('/model\r');
    await terminal.until('Model: opus');
    await terminal.prompt();
    terminal.type('/mode\r');
    await terminal.until('Permission mode: plan');
    await terminal.prompt();
    terminal.type('/mode yolo\r');
    await terminal.until('Unknown mode yolo');
    await terminal.prompt();
    terminal.type('/mode acceptedits\r');
    expect(await agent.answer('set_permission_mode')).toMatchObject({ mode: 'acceptEdits' });
    await terminal.until('Permission mode: acceptEdits');
  });
});

describe('explain', () => {
  const call = (name: string, more: Partial<Call> = {}): Call => ({
    id: name,
    name,
    input: {},
    isNested: false,
    since: 0,
    outcome: 'ok',
    ...more,
  });
  const log = (...calls: Call[]) => ({ calls, early: {} });

  test.each<[string, Partial<Call>, string[]]>([
    [
      'allowed by a person',
      {
        asked: { reason: 'it may be destructive' },
        verdict: { behavior: 'allow', by: 'you', how: 'always' },
      },
      ['x: succeeded', '  approval required: it may be destructive', '  allowed by you, always'],
    ],
    [
      'denied by a rule',
      { outcome: 'denied', verdict: { behavior: 'deny', by: 'agent', reason: 'deny rule "x"' } },
      ['x: denied', '  denied by the agent: deny rule "x"'],
    ],
    [
      'denied because the run is non-interactive',
      {
        outcome: 'denied',
        asked: { reason: 'r' },
        verdict: { behavior: 'deny', by: 'non-interactive', reason: 'Alone.' },
      },
      ['x: denied', '  approval required: r', '  denied: Alone.'],
    ],
    [
      'not asked about',
      { outcome: 'failed' },
      [
        'x: failed',
        '  allowed by a rule, the permission mode or a trusted annotation; the agent did not report which',
      ],
    ],
    [
      'asked about now',
      { outcome: 'running', asked: {} },
      [
        'x: running',
        '  approval required: no rule allowed or denied the call; the agent reported no reason',
        '  waiting for your answer',
      ],
    ],
  ])('a call that was %s', (_, more, lines) => {
    expect(text(explain(log(call('x', more)), 'last'))).toEqual(lines);
  });

  test('finds a call by full name, tool name, or as the last one', () => {
    const calls = log(call('mcp__a__one'), call('mcp__b__two'));
    expect(text(explain(calls, 'mcp__a__one'))[0]).toBe('mcp__a__one: succeeded');
    expect(text(explain(calls, 'one'))[0]).toBe('mcp__a__one: succeeded');
    expect(text(explain(calls, ''))[0]).toBe('mcp__b__two: succeeded');
    expect(text(explain(calls, 'three'))).toEqual(['three has not been called yet.']);
    expect(text(explain(log(), 'last'))).toEqual(['No tool has been called yet.']);
  });
});

describe('usage text', () => {
  test('shows tokens, turns, cost and context as far as known', () => {
    const totals = {
      prompts: 2,
      turns: 5,
      inputTokens: 12345,
      cachedTokens: 12000,
      outputTokens: 67,
      usd: 0.0123,
    };
    expect(text(usageText(totals, { totalTokens: 50_000, maxTokens: 200_000 }))).toEqual([
      '  tokens   12,345 in (12,000 from the cache), 67 out',
      '  turns    5 for 2 prompts',
      '  cost     $0.0123',
      '  context  50,000 of 200,000 tokens (25 %)',
    ]);
    expect(text(usageText({ ...NOTHING_USED, prompts: 1, turns: 1 }, undefined))).toEqual([
      '  tokens   0 in, 0 out',
      '  turns    1 for 1 prompt',
      '  cost     unknown for this model',
    ]);
  });
});
