import { describe, expect, onTestFinished, test } from 'vitest';
import { ProcessGroup } from '../../../src/base/process/process-group.ts';
import { Flow } from '../../../src/cli/chat/live/flow.ts';
import { activity } from '../../../src/cli/chat/live/frame.ts';
import { addCall, changeCall, EMPTY_VIEW, NO_CALLS } from '../../../src/cli/chat/view.ts';
import { line, type Piece } from '../../../src/cli/terminal/render.ts';
import { CTRL_C, CTRL_D, FakeTerminal, UP } from '../support/fake-terminal.ts';
import { delta, messageStart, openChat, system, toolResult, toolUse } from './support/open-chat.ts';
import { text } from './support/text.ts';

describe('chat', () => {
  test('shows streamed text as it arrives, once', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('hello\r');
    expect(await agent.prompt()).toBe('hello');
    agent.agent.emit(messageStart('msg'));
    agent.agent.emit(delta('Good '));
    await terminal.shows(/Good\nthinking/);
    agent.agent.emit(delta('**day**'));
    await terminal.shows(/Good day\nthinking/);
    agent.assistant('Good **day**');
    agent.result('Good **day**');
    expect((await terminal.prompt()).match(/Good/g)).toHaveLength(1);
  });

  test('shows a call with its input, outcome and duration', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('add\r');
    await agent.prompt();
    agent.agent.emit(toolUse('t1', 'mcp__calc__add', { a: 2, b: 40 }));
    await terminal.until('● mcp__calc__add a: 2, b: 40\n');
    terminal.pass(3_000);
    await terminal.shows('mcp__calc__add 3.0 s · Esc interrupts');
    agent.agent.emit({
      type: 'tool_progress',
      tool_use_id: 't1',
      tool_name: 'mcp__calc__add',
      parent_tool_use_id: null,
      elapsed_time_seconds: 3,
      progress: { progress: 1, total: 2, message: 'carrying' },
      session_id: 's',
      uuid: 'u',
    });
    agent.agent.emit(system('notification', { text: 'on it goes' }));
    await terminal.until('on it goes\n');
    terminal.pass(0);
    await terminal.shows('mcp__calc__add 3.0 s · █████░░░░░ 50 % carrying · Esc interrupts');
    agent.agent.emit(toolResult('t1', '42'));
    await terminal.until('✓ mcp__calc__add 3.0 s 42\n');
    agent.agent.emit(toolUse('t2', 'mcp__calc__div'));
    agent.agent.emit(toolResult('t2', 'by zero\nat line 1', { is_error: true }));
    await terminal.until('✗ failed mcp__calc__div 0.0 s by zero\n    at line 1\n');
    agent.result('');
    await terminal.prompt();
  });

  const ask = (more = {}) => ({
    subtype: 'can_use_tool',
    tool_name: 'mcp__calc__add',
    mcp_server: { name: 'calc', source: 'dynamic' },
    input: { a: 2 },
    tool_use_id: 't1',
    ...more,
  });

  test('asks for permission: once, always with the suggested rule, or deny with a reason', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('add\r');
    await agent.prompt();
    agent.agent.emit(toolUse('t1', 'mcp__calc__add', { a: 2 }));
    const once = agent.ask(ask({ decision_reason: 'it may be destructive' }));
    const question = await terminal.shows(/\nallow\?$/);
    expect(question).toMatch(/● mcp__calc__add a: 2\n\? Approval required: mcp__calc__add of server calc/);
    expect(question).toContain('"a": 2');
    expect(question).toContain('reason: it may be destructive');
    terminal.type('y\r');
    expect(await once).toEqual({ behavior: 'allow', toolUseID: 't1' });

    const suggestion = {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'ls:*' }],
      behavior: 'allow',
      destination: 'localSettings',
    };
    const always = agent.ask(ask({ permission_suggestions: [suggestion] }));
    expect(await terminal.shows(/\nallow\?$/)).toContain(
      '  a always: allow Bash(ls:*), saved in .toolplane/settings.local.json',
    );
    terminal.type('a\r');
    expect(await always).toMatchObject({ behavior: 'allow', updatedPermissions: [suggestion] });

    const never = agent.ask(ask());
    await terminal.shows(/\nallow\?$/);
    terminal.type('what?\r');
    await terminal.shows(/\nallow\?$/);
    terminal.type('n use the other one\r');
    expect(await never).toMatchObject({ behavior: 'deny', message: 'use the other one' });
    agent.agent.emit(toolResult('t1', 'use the other one', { is_error: true }));
    await terminal.until('⊘ denied mcp__calc__add');
    agent.result('');
    await terminal.prompt();
    terminal.type('/explain add\r');
    await terminal.shows(/mcp__calc__add: denied\n(.*\n)+ {2}denied by you: use the other one/);
  });

  test('asks two questions one after the other; Ctrl-C denies one and the turn continues', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('both\r');
    await agent.prompt();
    const first = agent.ask(ask({ tool_name: 'one' }));
    const second = agent.ask(ask({ tool_name: 'two', tool_use_id: 't2' }));
    expect(await terminal.shows(/\nallow\?$/)).not.toContain('two');
    terminal.type(CTRL_C);
    expect(await first).toMatchObject({ behavior: 'deny', message: 'The user dismissed the question.' });
    expect(await terminal.shows(/\nallow\?$/)).toContain('Approval required: two');
    terminal.type('y\r');
    expect(await second).toMatchObject({ behavior: 'allow' });
    agent.result('done');
    await terminal.until('done');
  });

  test('Ctrl-C interrupts the turn and the chat continues', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('for ever\r');
    await agent.prompt();
    terminal.type(CTRL_C);
    await terminal.until('interrupting, Ctrl-C exits');
    await agent.answer('interrupt');
    agent.result('', {
      subtype: 'error_during_execution',
      is_error: true,
      errors: ['The turn was interrupted'],
    });
    await terminal.until('✗ The turn was interrupted\n');
    await terminal.prompt();
    terminal.type('next\r');
    expect(await agent.prompt()).toBe('next');
    agent.result('here');
    await terminal.until('here');
  });

  describe('a turn that the agent starts by itself', () => {
    /** A chat whose first turn is over, and an agent that has begun another turn. */
    const openInAgentTurn = async () => {
      const opened = await openChat();
      const { terminal, agent } = opened;
      terminal.type('go\r');
      await agent.prompt();
      agent.result('started');
      await terminal.until('started');
      await terminal.prompt();
      const init = { tools: [], mcp_servers: [], model: 'm' };
      agent.agent.emit(system('init', init));
      await agent.answer('mcp_status', { mcpServers: [] });
      agent.agent.emit(system('status', { status: 'requesting' }));
      await terminal.shows('thinking');
      agent.agent.emit(messageStart('m2'));
      return opened;
    };
    const origin = { kind: 'task-notification' };

    test('is shown while it runs, and the input line stays open', async () => {
      const { terminal, agent } = await openInAgentTurn();
      terminal.pass(4_000);
      await terminal.shows('thinking 4.0 s · Esc interrupts');
      agent.assistant('The task is done');
      agent.result('The task is done', { origin });
      await terminal.until('The task is done');
      await terminal.shows(/^(?![\s\S]*Esc interrupts)/);
      terminal.type('next\r');
      expect(await agent.prompt()).toBe('next');
    });

    test.each([
      ['Ctrl-C', CTRL_C],
      ['Esc', '\u001b'],
    ])('is interrupted by %s, and the chat continues', async (_, key) => {
      const { terminal, agent } = await openInAgentTurn();
      terminal.type(key);
      await agent.answer('interrupt');
      await terminal.until('interrupting, Ctrl-C exits');
      agent.result('', { subtype: 'error_during_execution', is_error: true, errors: ['Stopped'], origin });
      await terminal.until('✗ Stopped\n');
      await terminal.shows(/^(?![\s\S]*interrupting, Ctrl-C exits)/);
      terminal.type('next\r');
      expect(await agent.prompt()).toBe('next');
    });
  });

  test('the output of !command is added to the conversation without a turn', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('!echo first\r');
    expect(await agent.prompt()).toContain('<bash-stdout>first</bash-stdout>');
    agent.agent.emit(system('init', { tools: [], mcp_servers: [], model: 'm' }));
    await agent.answer('mcp_status', { mcpServers: [] });
    agent.result('', { num_turns: 0 });
    agent.agent.emit(system('notification', { text: 'noted' }));
    await terminal.shows('noted');
    terminal.type(CTRL_C);
    expect(await terminal.shows('To leave, press Ctrl-C again')).not.toContain('Esc interrupts');
  });

  test('a process that !command left running ends with the chat', async () => {
    const { terminal, chat } = await openChat();
    terminal.type('!sleep 600 > /dev/null 2>&1 & echo group $$\r');
    const [, leader] = /^ {2}group (\d+)$/m.exec(await terminal.shows(/^ {2}group \d+$/m)) ?? [];
    const group = new ProcessGroup(Number(leader));
    onTestFinished(() => void group.signal('SIGKILL'));
    expect(group.isRunning()).toBe(true);
    await chat[Symbol.asyncDispose]();
    expect(group.isRunning()).toBe(false);
  });

  test('a question and the end of a long turn draw attention', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('short\r');
    await agent.prompt();
    agent.result('one');
    await terminal.until('one');
    await terminal.prompt();
    expect(terminal.notices).toEqual([]);
    terminal.type('long\r');
    await agent.prompt();
    const asked = agent.ask(ask());
    await terminal.shows(/\nallow\?$/);
    expect(terminal.notices).toEqual(['Toolplane: Approval required']);
    terminal.type('y\r');
    await asked;
    terminal.pass(20_000);
    agent.result('two');
    await terminal.until('two');
    await terminal.prompt();
    expect(terminal.notices).toEqual(['Toolplane: Approval required', 'Toolplane: Turn finished']);
  });

  test('the status line shows model, mode, context, cost and background work', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('go\r');
    await agent.prompt();
    agent.agent.emit(system('init', { tools: [], mcp_servers: [], model: 'opus', permissionMode: 'plan' }));
    await agent.answer('mcp_status', { mcpServers: [] });
    const usage = { input_tokens: 10_000, cache_read_input_tokens: 39_000, output_tokens: 1_000 };
    const message = { id: 'm1', type: 'message', role: 'assistant', model: 'opus', content: [], usage };
    agent.agent.emit({ type: 'assistant', message, parent_tool_use_id: null, session_id: 's', uuid: 'u' });
    agent.agent.emit(system('background_tasks_changed', { tasks: [{ task_id: 'b' }] }));
    agent.result('done', { total_cost_usd: 0.25, modelUsage: { opus: { contextWindow: 200_000 } } });
    await terminal.shows('\n  opus · plan mode · context 25 % · $0.2500 · 1 in background');
  });

  test('Shift-Tab sets the next mode and takes it back if the agent refuses', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('\u001b[Z');
    expect(await agent.answer('set_permission_mode')).toMatchObject({ mode: 'acceptEdits' });
    await terminal.shows('edits allowed');
    terminal.type('\u001b[Z');
    expect(await agent.answer('set_permission_mode', { error: 'not here' })).toMatchObject({ mode: 'plan' });
    await terminal.until('not here');
    await terminal.shows('edits allowed');
  });

  test('a plain terminal: Ctrl-C at a question, a queued message, and no escape sequences', async () => {
    const terminal = new FakeTerminal({ isPlain: true });
    const { agent } = await openChat({}, terminal);
    terminal.type('go\n');
    expect(await agent.prompt()).toBe('go');
    agent.agent.emit(messageStart('m'));
    agent.agent.emit(delta('**One** '));
    agent.agent.emit(delta('line.\nTwo'));
    await terminal.until('**One** line.\n');
    const asked = agent.ask(ask());
    await terminal.until('allow? ');
    terminal.interrupt();
    expect(await asked).toMatchObject({ behavior: 'deny' });
    terminal.type('next\n');
    await terminal.until('queued: ');
    agent.result('done');
    await terminal.until('› next\n');
    expect(await agent.prompt()).toBe('next');
    expect(terminal.printed).not.toContain('\u001b');
    expect(terminal.printed).toContain('allow? \n');
  });

  test('leaving during a turn prints the text so far, and how to continue', async () => {
    const { terminal, agent, left, chat } = await openChat();
    terminal.type('go\r');
    await agent.prompt();
    agent.agent.emit(system('init', { session_id: 'abc', tools: [], mcp_servers: [] }));
    agent.agent.emit(messageStart('m1'));
    agent.agent.emit(delta('The first half'));
    await terminal.until('The first half');
    terminal.type(CTRL_C);
    await terminal.until('interrupting, Ctrl-C exits');
    terminal.type(CTRL_C);
    expect(await left).toBe(130);
    await chat[Symbol.asyncDispose]();
    expect(terminal.screen).toMatch(/The first half\nTo continue this conversation: toolplane --resume abc$/);
  });

  test('before the first turn, the status line has the mode and the model of the agent', async () => {
    const { terminal } = await openChat({}, undefined, { mode: 'plan', model: 'small' });
    await terminal.shows(/ {2}small · plan mode/);
  });

  test('a second Ctrl-C exits if the agent does not stop', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('for ever\r');
    await agent.prompt();
    terminal.type(CTRL_C);
    await terminal.until('interrupting, Ctrl-C exits');
    terminal.type(CTRL_C);
    expect(await left).toBe(130);
  });

  test('at an empty prompt the first Ctrl-C shows how to exit, the second exits', async () => {
    const { terminal, left } = await openChat();
    terminal.type(CTRL_C);
    await terminal.until('To leave, press Ctrl-C again or Ctrl-D, or type /quit.');
    await terminal.prompt();
    terminal.type(CTRL_C);
    expect(await left).toBe(0);
  });

  test.each([
    ['Ctrl-D', CTRL_D],
    ['/quit', '/quit\r'],
  ])('%s exits', async (_, keys) => {
    const { terminal, left } = await openChat();
    terminal.type(keys);
    expect(await left).toBe(0);
  });

  test('Ctrl-D during a turn exits', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('for ever\r');
    await agent.prompt();
    terminal.type(CTRL_D);
    expect(await left).toBe(0);
  });

  test.each(['input', 'output'] as const)(
    'a terminal whose %s is gone is left as by a hang-up',
    async (side) => {
      const { terminal, left } = await openChat();
      terminal[side].destroy(Object.assign(new Error('gone'), { code: 'EIO' }));
      expect(await left).toBe(129);
    },
  );

  test('ends with the reason when the agent ends', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('hello\r');
    await agent.prompt();
    agent.agent.leave(new Error('out of memory'));
    await expect(left).rejects.toThrow('out of memory');
  });

  test('text of models, tools and servers cannot control the terminal', async () => {
    const { terminal, agent } = await openChat({}, new FakeTerminal({ hasColors: true }));
    const evil = '\u001b]52;c;cm0=\u0007\u001b[2J\u009b1A\u202e';
    terminal.type('go\r');
    await agent.prompt();
    agent.agent.emit(
      system('init', { tools: [], mcp_servers: [{ name: `srv${evil}`, status: 'failed' }], model: 'm' }),
    );
    await agent.answer('mcp_status', { mcpServers: [{ name: `srv${evil}`, status: 'failed', error: evil }] });
    agent.agent.emit(messageStart('m1'));
    for (const character of evil) agent.agent.emit(delta(character));
    agent.agent.emit(toolUse('t1', `mcp__x__${evil}`, { [evil]: evil }));
    const asked = agent.ask(
      ask({ tool_name: `mcp__x__${evil}`, input: { [evil]: evil }, title: evil, description: evil }),
    );
    await terminal.shows(/\nallow\?$/);
    terminal.type('v\r');
    await terminal.shows(/\nallow\?$/);
    terminal.type('y\r');
    await asked;
    const form = {
      type: 'object',
      properties: { [evil]: { type: 'string', title: evil, description: evil } },
    };
    const elicited = agent.ask({
      subtype: 'elicitation',
      mcp_server_name: evil,
      message: evil,
      mode: 'form',
      requested_schema: form,
    });
    await terminal.shows(/optional\):$/);
    terminal.type('x\r');
    await elicited;
    agent.agent.emit(toolResult('t1', evil));
    agent.agent.emit(system('informational', { content: evil, level: 'warning' }));
    agent.result('', { subtype: 'error_during_execution', is_error: true, errors: [evil] });
    await terminal.prompt();
    terminal.type('/mcp\r');
    await agent.answer('mcp_status', { mcpServers: [{ name: evil, status: evil, error: evil }] });
    await terminal.prompt();
    terminal.type('/tools\r');
    await agent.answer('mcp_status', {
      mcpServers: [{ name: evil, status: 'connected', tools: [{ name: evil, description: evil }] }],
    });
    await agent.answer('get_context_usage', { systemTools: [{ name: evil }] });
    await terminal.prompt();
    expect(terminal.printed.match(/␛\]52;c;cm0=␇␛\[2J/g)?.length).toBeGreaterThan(10);
    for (const sequence of ['\u001b]', '\u001b[2J', '\u009b', '\u0007', '\u202e']) {
      expect(terminal.printed).not.toContain(sequence);
    }
  });

  test('without a terminal denies questions and treats lines as prompts', async () => {
    const terminal = new FakeTerminal({ isInteractive: false });
    const { agent, left } = await openChat({}, terminal);
    terminal.input.end('one\ntwo\n');
    expect(await agent.prompt()).toBe('one');
    expect(await agent.ask(ask())).toMatchObject({ behavior: 'deny' });
    expect(await agent.ask({ subtype: 'elicitation', mcp_server_name: 's', message: 'm' })).toEqual({
      action: 'decline',
    });
    agent.result('first');
    expect(await agent.prompt()).toBe('two');
    agent.result('second');
    expect(await left).toBe(0);
    expect(terminal.printed).toBe('first\nsecond\n');
  });

  test('/clear starts a new conversation with the chosen settings and without the resumed session', async () => {
    const { terminal, agent, agents } = await openChat({ resume: 'old' });
    terminal.type('/model opus\r');
    await agent.answer('set_model');
    await terminal.until('The next turn uses opus.');
    await terminal.prompt();
    terminal.type('/clear\r');
    await terminal.until('New conversation.');
    expect(agents).toHaveLength(2);
    expect(agents[0]?.launch?.argv).toContain('--resume=old');
    expect(agents[1]?.launch?.argv).toContain('--model=opus');
    expect(agents[1]?.launch?.argv).not.toContain('--resume=old');
  });

  test('sends a prompt command of a server unchanged; does not send an unknown command', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/summary\r');
    await terminal.until('Unknown command /summary.');
    await terminal.prompt();
    terminal.type('/mcp__docs__summary the notes\r');
    expect(await agent.prompt()).toBe('/mcp__docs__summary the notes');
    agent.result('done');
    await terminal.until('done');
  });

  test('a message typed during a turn is shown, queued and sent after it', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    expect(await agent.prompt()).toBe('one');
    agent.agent.emit(messageStart('m'));
    agent.agent.emit(delta('The first half '));
    await terminal.shows('The first half');
    terminal.type('tw');
    await terminal.shows('» tw');
    agent.agent.emit(delta('and the second.\nLast'));
    // Printed above the line being typed.
    await terminal.shows(/The first half and the second\.\nLast\n.*\n─+\n» tw/);
    terminal.type('o\r');
    await terminal.shows(/queued: two\n.*\n─+\n»/);
    agent.result('The first half and the second.\nLast');
    await terminal.shows(/Last\n\n› two\n/);
    expect(await agent.prompt()).toBe('two');
    expect(terminal.screen).not.toContain('queued: two');
    agent.result('second');
    await terminal.until('second');
    await terminal.prompt();
  });

  test('Up at an empty line during a turn takes the last queued message back', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    await agent.prompt();
    terminal.type('two\r');
    await terminal.shows('queued: two');
    terminal.type(UP);
    await terminal.shows('» two');
    expect(terminal.screen).not.toContain('queued: two');
    terminal.type(' and three\r');
    await terminal.shows('queued: two and three');
    agent.result('first');
    expect(await agent.prompt()).toBe('two and three');
  });

  test('a draft typed during a turn appears at the next prompt unless Ctrl-C clears it', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    await agent.prompt();
    terminal.type('dropped');
    await terminal.shows('» dropped');
    terminal.type(CTRL_C);
    await terminal.shows('» type to queue a message');
    terminal.type('kept');
    await terminal.shows('» kept');
    agent.result('first');
    await terminal.shows('\n› kept');
    terminal.type(' on\r');
    expect(await agent.prompt()).toBe('kept on');
  });

  test.each([
    ['Ctrl-C', CTRL_C],
    ['Esc', '\u001b'],
  ])('%s interrupts the turn and returns queued messages to the input line', async (_, key) => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    await agent.prompt();
    terminal.type('two\r');
    await terminal.shows('queued: two');
    terminal.type(key);
    await terminal.until('Queued messages not sent: 1');
    await agent.answer('interrupt');
    agent.result('stopped');
    await terminal.shows('\n› two');
    terminal.type('\r');
    expect(await agent.prompt()).toBe('two');
  });

  const FORM = {
    subtype: 'elicitation',
    mcp_server_name: 'crm',
    message: 'Who?',
    requested_schema: { type: 'object', properties: { name: { type: 'string' } } },
  };

  test('commands work within a form: /help, /quit; // starts an answer with a slash', async () => {
    const { terminal, agent, left } = await openChat({}, new FakeTerminal({ columns: 200 }));
    const answer = agent.ask(FORM);
    await terminal.until('name (string');
    terminal.type('/help\r');
    await terminal.until('/quit');
    await terminal.until('name (string');
    terminal.type('/compact\r');
    await terminal.until('Answer the question or cancel it with Ctrl-C before using /compact.');
    terminal.type('/hlep\r');
    await terminal.until('Did you mean /help?');
    await terminal.until('name (string');
    terminal.type('//tmp\r');
    expect(await answer).toEqual({ action: 'accept', content: { name: '/tmp' } });
    const second = agent.ask(FORM);
    second.catch(() => {});
    await terminal.until('name (string');
    terminal.type('/quit\r');
    expect(await left).toBe(0);
  });

  test('/quit at a permission question exits', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('hi\r');
    await agent.prompt();
    agent.ask(ask()).catch(() => {});
    await terminal.shows(/\nallow\?$/);
    terminal.type('/quit\r');
    expect(await left).toBe(0);
  });

  test('a muted server is not asked about again in the session', async () => {
    const { terminal, agent } = await openChat({}, new FakeTerminal({ columns: 200 }));
    const both = [agent.ask(FORM), agent.ask(FORM)];
    await terminal.until('name (string');
    terminal.type('/mute\r');
    await terminal.until('Server crm is muted');
    expect(await Promise.all(both)).toEqual([{ action: 'decline' }, { action: 'decline' }]);
    expect(await agent.ask(FORM)).toEqual({ action: 'decline' });
    const other = agent.ask({ ...FORM, mcp_server_name: 'docs' });
    await terminal.until('name (string');
    terminal.type('Ada\r');
    expect(await other).toEqual({ action: 'accept', content: { name: 'Ada' } });
  });

  test('a form waits while a line is being typed', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('/qu');
    await terminal.until('/qu');
    agent.ask(FORM).catch(() => {});
    await terminal.until('A question is waiting');
    terminal.type('it\r');
    expect(await left).toBe(0);
  });

  test('reports a failed command and continues', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('/mode plan\r');
    await agent.answer('set_permission_mode', { error: 'not here' });
    await terminal.until('not here\n');
    await terminal.prompt();
  });

  test('messages between turns are shown above the prompt', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('half a tho');
    await terminal.shows('› half a tho');
    agent.agent.emit(system('notification', { text: 'docs is back' }));
    await terminal.shows(/docs is back\n─+\n› half a tho/);
    agent.agent.emit(messageStart('by itself'));
    agent.agent.emit(delta('I woke up'));
    await terminal.shows(/docs is back\nI woke up\nthinking .*\n─+\n› half a tho/);
    terminal.type('ught\r');
    expect(await agent.prompt()).toBe('half a thought');
    agent.result('ok');
    await terminal.until('ok');
  });
});

describe('flow', () => {
  const flow = (text: string): Piece => ({ kind: 'flow', text });

  test('passes streamed text through without a terminal', () => {
    const buffer = new Flow('raw');
    expect(buffer.take([flow('a'), flow('b')])).toEqual([flow('a'), flow('b')]);
    expect(buffer.flush()).toEqual([]);
  });

  test('passes streamed text by whole lines to a plain terminal', () => {
    const buffer = new Flow('lines');
    expect(buffer.take([flow('one')])).toEqual([]);
    expect(buffer.take([flow(' two\nthree')])).toEqual([flow('one two\n')]);
    expect(buffer.take([line('tool')])).toEqual([flow('three\n'), line('tool')]);
    buffer.take([flow('six')]);
    expect(buffer.flush()).toEqual([flow('six\n')]);
  });

  test('renders markdown by whole lines, and shows the end of the text as it would be rendered', () => {
    const buffer = new Flow('markdown');
    expect(buffer.take([flow('# Title\n- *on')])).toEqual([line(['Title', 'heading'])]);
    expect(text(buffer.tail)).toEqual(['• *on']);
    buffer.take([flow('e*')]);
    expect(text(buffer.tail)).toEqual(['• one']);
    expect(text(buffer.take([line('tool')]))).toEqual(['• one', 'tool']);
    expect(buffer.tail).toEqual([]);
  });
});

describe('activity', () => {
  test('shows the oldest running call and the number of others, or that the model is thinking', () => {
    const call = (id: string, since: number) => ({
      id,
      name: id,
      input: {},
      isNested: false,
      since,
      outcome: 'running' as const,
    });
    const two = addCall(addCall(NO_CALLS, call('one', 1_000)), call('two', 2_000));
    const status = (calls: typeof two) => activity({ ...EMPTY_VIEW, calls }, 500, 5_000);
    expect(status(NO_CALLS)).toBe('thinking 4.5 s');
    expect(status(two)).toBe('one 4.0 s and 1 more');
    expect(status(changeCall(two, 'one', { progress: { done: 1, total: 3, message: 'reading' } }))).toBe(
      'one 4.0 s · ███░░░░░░░ 33 % reading and 1 more',
    );
    expect(status(changeCall(two, 'one', { outcome: 'ok' }))).toBe('two 3.0 s');
  });
});
