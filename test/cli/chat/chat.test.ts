import { describe, expect, test } from 'vitest';
import { FlowBuffer, statusLine } from '../../../src/cli/chat/chat.ts';
import { addCall, changeCall, EMPTY_VIEW, NO_CALLS } from '../../../src/cli/chat/view.ts';
import { line, type Piece } from '../../../src/cli/terminal/render.ts';
import { CTRL_C, CTRL_D, FakeTerminal, UP } from '../support/fake-terminal.ts';
import { delta, messageStart, openChat, system, toolResult, toolUse } from './support/open-chat.ts';

describe('chat', () => {
  test('shows streamed text as it arrives, once', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('hello\r');
    expect(await agent.prompt()).toBe('hello');
    agent.agent.emit(messageStart('msg'));
    agent.agent.emit(delta('Good '));
    await terminal.until('Good ');
    agent.agent.emit(delta('day'));
    await terminal.until('day');
    agent.assistant('Good day');
    agent.result('Good day');
    expect(await terminal.until('› ')).not.toContain('Good');
  });

  test('shows a call with its input, outcome and duration', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('add\r');
    await agent.prompt();
    agent.agent.emit(toolUse('t1', 'mcp__calc__add', { a: 2, b: 40 }));
    await terminal.until('● mcp__calc__add a: 2, b: 40\n');
    terminal.pass(3_000);
    await terminal.until('mcp__calc__add 3.0 s · Ctrl-C interrupts');
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
    await terminal.until('mcp__calc__add 3.0 s · 50 % carrying · Ctrl-C interrupts');
    agent.agent.emit(toolResult('t1', '42'));
    await terminal.until('✓ mcp__calc__add 3.0 s 42\n');
    agent.agent.emit(toolUse('t2', 'mcp__calc__div'));
    agent.agent.emit(toolResult('t2', 'by zero\nat line 1', { is_error: true }));
    await terminal.until('✗ failed mcp__calc__div 0.0 s by zero (+1 lines)\n');
    agent.result('');
    await terminal.until('› ');
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
    const question = await terminal.until('allow? ');
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
    expect(await terminal.until('allow? ')).toContain(
      'always: Bash(ls:*) saved in .toolplane/settings.local.json',
    );
    terminal.type('a\r');
    expect(await always).toMatchObject({ behavior: 'allow', updatedPermissions: [suggestion] });

    const never = agent.ask(ask());
    await terminal.until('allow? ');
    terminal.type('what?\r');
    await terminal.until('allow? ');
    terminal.type('n use the other one\r');
    expect(await never).toMatchObject({ behavior: 'deny', message: 'use the other one' });
    agent.agent.emit(toolResult('t1', 'use the other one', { is_error: true }));
    await terminal.until('⊘ denied mcp__calc__add');
    agent.result('');
    await terminal.until('› ');
    terminal.type('/explain add\r');
    expect(await terminal.until('› ')).toMatch(
      /mcp__calc__add: denied\n.*\n {2}denied by you: use the other one/,
    );
  });

  test('asks two questions one after the other; Ctrl-C denies one and the turn continues', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('both\r');
    await agent.prompt();
    const first = agent.ask(ask({ tool_name: 'one' }));
    const second = agent.ask(ask({ tool_name: 'two', tool_use_id: 't2' }));
    expect(await terminal.until('allow? ')).not.toContain('two');
    terminal.type(CTRL_C);
    expect(await first).toMatchObject({ behavior: 'deny', message: 'The user dismissed the question.' });
    expect(await terminal.until('allow? ')).toContain('Approval required: two');
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
    await terminal.until('Interrupting');
    await agent.answer('interrupt');
    agent.result('', {
      subtype: 'error_during_execution',
      is_error: true,
      errors: ['The turn was interrupted'],
    });
    await terminal.until('✗ The turn was interrupted\n');
    await terminal.until('› ');
    terminal.type('next\r');
    expect(await agent.prompt()).toBe('next');
    agent.result('here');
    await terminal.until('here');
  });

  test('a second Ctrl-C exits if the agent does not stop', async () => {
    const { terminal, agent, left } = await openChat();
    terminal.type('for ever\r');
    await agent.prompt();
    terminal.type(CTRL_C);
    await terminal.until('Interrupting');
    terminal.type(CTRL_C);
    expect(await left).toBe(130);
  });

  test('at an empty prompt the first Ctrl-C shows how to exit, the second exits', async () => {
    const { terminal, left } = await openChat();
    terminal.type(CTRL_C);
    await terminal.until('Press Ctrl-C again, Ctrl-D or type /quit to leave.');
    await terminal.until('› ');
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
    await terminal.until('allow? ');
    terminal.type('v\r');
    await terminal.until('allow? ');
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
    await terminal.until('optional): ');
    terminal.type('x\r');
    await elicited;
    agent.agent.emit(toolResult('t1', evil));
    agent.agent.emit(system('informational', { content: evil, level: 'warning' }));
    agent.result('', { subtype: 'error_during_execution', is_error: true, errors: [evil] });
    await terminal.until('› ');
    terminal.type('/mcp\r');
    await agent.answer('mcp_status', { mcpServers: [{ name: evil, status: evil, error: evil }] });
    await terminal.until('› ');
    terminal.type('/tools\r');
    await agent.answer('mcp_status', {
      mcpServers: [{ name: evil, status: 'connected', tools: [{ name: evil, description: evil }] }],
    });
    await terminal.until('› ');
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
    await terminal.until('› ');
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
    await terminal.until('› ');
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
    await terminal.until('The first half ');
    terminal.type('tw');
    await terminal.until('queue › ');
    await terminal.until('w');
    agent.agent.emit(delta('and the second.\nLast'));
    // Printed above the line being typed.
    await terminal.until('and the second.\n');
    await terminal.until('queue › tw');
    terminal.type('o\r');
    await terminal.until('queued: ');
    expect(await terminal.until('Last')).not.toContain('queue ›');
    agent.result('The first half and the second.\nLast');
    await terminal.until('› two\n');
    expect(await agent.prompt()).toBe('two');
    agent.result('second');
    await terminal.until('second');
    await terminal.until('› ');
  });

  test('a draft typed during a turn appears at the next prompt unless Ctrl-C or Esc clears it', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    await agent.prompt();
    terminal.type('dropped');
    await terminal.until('queue › ');
    await terminal.until('ropped');
    terminal.type(CTRL_C);
    terminal.type('kept');
    await terminal.until('queue › ');
    await terminal.until('ept');
    agent.result('first');
    await terminal.until('first');
    await terminal.until('› kept');
    terminal.type(' on\r');
    expect(await agent.prompt()).toBe('kept on');
  });

  test('an interrupted turn drops queued messages, which stay in the history', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('one\r');
    await agent.prompt();
    terminal.type('two\r');
    await terminal.until('queued: ');
    terminal.type(CTRL_C);
    await terminal.until('Queued messages not sent: 1');
    await agent.answer('interrupt');
    agent.result('stopped');
    await terminal.until('› ');
    terminal.type(`${UP}\r`);
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
    await terminal.until('allow? ');
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
    await terminal.until('› ');
  });

  test('messages between turns are shown above the prompt', async () => {
    const { terminal, agent } = await openChat();
    terminal.type('half a tho');
    await terminal.until('half a tho');
    agent.agent.emit(system('notification', { text: 'docs is back' }));
    await terminal.until('docs is back\n');
    await terminal.until('› half a tho');
    agent.agent.emit(messageStart('by itself'));
    agent.agent.emit(delta('I woke up'));
    expect(await terminal.until('› half a tho')).toContain('I woke up\n');
    terminal.type('ught\r');
    expect(await agent.prompt()).toBe('half a thought');
    agent.result('ok');
    await terminal.until('ok');
  });
});

describe('flow buffer', () => {
  const flow = (text: string): Piece => ({ kind: 'flow', text });

  test('passes streamed text through while no text is typed', () => {
    const buffer = new FlowBuffer();
    expect(buffer.take([flow('a'), flow('b')], false)).toEqual([flow('a'), flow('b')]);
    expect(buffer.flush()).toEqual([]);
  });

  test('while text is typed, passes streamed text by whole lines', () => {
    const buffer = new FlowBuffer();
    expect(buffer.take([flow('one')], true)).toEqual([]);
    expect(buffer.take([flow(' two\nthree')], true)).toEqual([flow('one two\n')]);
    expect(buffer.take([line('tool')], true)).toEqual([flow('three'), line('tool')]);
    expect(buffer.take([flow('four')], true)).toEqual([]);
    expect(buffer.take([flow(' five')], false)).toEqual([flow('four five')]);
    buffer.take([flow('six')], true);
    expect(buffer.flush()).toEqual([flow('six')]);
  });
});

describe('status line', () => {
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
    const status = (calls: typeof two) => statusLine({ ...EMPTY_VIEW, calls }, 500, 5_000);
    expect(status(NO_CALLS)).toBe('thinking 4.5 s · Ctrl-C interrupts');
    expect(status(two)).toBe('one 4.0 s and 1 more · Ctrl-C interrupts');
    expect(status(changeCall(two, 'one', { progress: { done: 1, total: 3, message: 'reading' } }))).toBe(
      'one 4.0 s · 33 % reading and 1 more · Ctrl-C interrupts',
    );
    expect(status(changeCall(two, 'one', { outcome: 'ok' }))).toBe('two 3.0 s · Ctrl-C interrupts');
  });
});
