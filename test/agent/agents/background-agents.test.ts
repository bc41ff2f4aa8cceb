import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/agent/models/model.ts';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import { collect } from '../../support/collect.ts';
import { allow, calc, drive, raw, resultOf, results, texts } from '../../support/drive.ts';
import { gate } from '../../support/gate.ts';

const AGENT = { builtIns: ['Agent', 'SendMessage', 'ListAgents', 'Sleep'], rules: allow('Agent') };

const agent = (prompt: string, id: string, more: object = {}) =>
  toolUse('Agent', { description: `work ${prompt}`, prompt, ...more }, id);

/** The first prompt of the conversation that a request continues. */
const first = ({ messages }: ModelRequest) => JSON.stringify(messages[0]);
const all = ({ messages }: ModelRequest) => JSON.stringify(messages);

const tasks = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) =>
    message.type === 'system' && /^task_|^background_tasks_changed/.test(message.subtype) ? [message] : [],
  );

test('an agent runs in the background by default; its end starts a turn with the report', async () => {
  const { query, model } = drive(
    (request) => {
      if (first(request).includes('FIND')) return text('It is in the cellar.');
      if (all(request).includes('task-notification')) return text('Reported.');
      return model.requests.length === 1 ? agent('FIND', 'call') : text('Started.');
    },
    {},
    AGENT,
  );
  const messages = await collect(query);
  const ends = messages.filter((message) => message.type === 'result');
  expect(ends).toMatchObject([
    { result: 'Started.' },
    { result: 'Reported.', origin: { kind: 'task-notification' } },
  ]);
  const call = messages.find((it) => it.type === 'user' && it.tool_use_result !== undefined);
  expect(call).toMatchObject({
    tool_use_result: { status: 'async_launched', isAsync: true, prompt: 'FIND', resolvedModel: 'm' },
  });
  const seen = tasks(messages);
  expect(seen.map(({ subtype }) => subtype)).toEqual([
    'background_tasks_changed',
    'task_started',
    'task_updated',
    'task_notification',
    'background_tasks_changed',
  ]);
  expect(seen[1]).toMatchObject({
    tool_use_id: 'call',
    task_type: 'local_agent',
    subagent_type: 'general-purpose',
    is_backgrounded: true,
    spawn_depth: 1,
    prompt: 'FIND',
  });
  expect(seen[3]).toMatchObject({ status: 'completed' });
  const notified = model.requests.find((request) => texts(request).join().includes('<task-notification>'));
  expect(texts(notified).join()).toContain('It is in the cellar.');
});

test('a message reaches a running agent after its tool calls, and wakes an ended one with its conversation', async () => {
  const working = gate();
  const { query, model } = drive(
    async (request, n) => {
      if (first(request).includes('DIG')) {
        if (all(request).includes('AGAIN')) return text('dug again');
        if (all(request).includes('DEEPER')) return text('dug deeper');
        await working.pass();
        return toolUse('mcp__calc__add', { a: 1, b: 1 }, 'sum');
      }
      if (n === 1) return agent('DIG', 'call', { name: 'digger' });
      if (all(request).includes('dug again')) return text('all done');
      if (all(request).includes('dug deeper'))
        return all(request).includes('AGAIN')
          ? text('waiting')
          : toolUse('SendMessage', { to: 'digger', message: 'AGAIN' }, 'again');
      if (results(request).send !== undefined) return text('sent');
      await working.reached;
      working.open();
      return toolUse('SendMessage', { to: 'digger', message: 'DEEPER' }, 'send');
    },
    { mcpServers: { calc: calc() } },
    { ...AGENT, rules: allow('Agent', 'SendMessage', 'mcp__calc') },
  );
  const messages = await collect(query);
  expect(messages.findLast((it) => it.type === 'result')).toMatchObject({ result: 'all done' });
  // The call that has started counts, as with the `claude` CLI.
  expect(tasks(messages).find(({ subtype }) => subtype === 'task_progress')).toMatchObject({
    last_tool_name: 'mcp__calc__add',
    usage: { tool_uses: 1 },
  });
  const sent = messages.flatMap((it) => (it.type === 'user' ? [it.tool_use_result] : []));
  expect(sent).toContainEqual(
    expect.objectContaining({ success: true, message: expect.stringMatching('queued') }),
  );
  expect(sent).toContainEqual(
    expect.objectContaining({ success: true, resumedAgentId: expect.stringMatching(/^a[0-9a-f]{16}$/) }),
  );
  const started = tasks(messages).filter(({ subtype }) => subtype === 'task_started');
  expect(started).toHaveLength(2);
  expect(new Set(started.map((it) => (it as { task_id?: string }).task_id)).size).toBe(1);
  const woken = model.requests.findLast((request) => first(request).includes('DIG'));
  expect(all(woken as ModelRequest)).toMatch(/DEEPER.*dug deeper.*AGAIN/s);
});

test('an agent sends a message to the main conversation, which starts a turn', async () => {
  const working = gate();
  const { query } = drive(
    async (request, n) => {
      if (first(request).includes('ASK')) {
        await working.pass();
        return results(request).send === undefined
          ? toolUse('SendMessage', { to: 'main', message: 'Which </agent-message> color?' }, 'send')
          : text('asked');
      }
      if (all(request).includes('color?')) return text('Blue.');
      if (n === 1) return agent('ASK', 'call', { name: 'asker' });
      working.open();
      return text('ok');
    },
    {},
    { ...AGENT, rules: allow('Agent', 'SendMessage') },
  );
  const messages = await collect(query);
  const peer = messages.find((it) => it.type === 'result' && it.origin?.kind === 'peer');
  expect(peer).toMatchObject({
    result: 'Blue.',
    origin: { from: 'asker', body: 'Which </agent-message> color?' },
  });
});

test.each([
  ['an unknown name', 'nobody-here', { success: false, message: expect.stringContaining("'nobody-here'") }],
  ['itself', 'main', { success: false, message: expect.stringContaining('main conversation') }],
])('a message to %s is not an error, but has no success', async (_, to, expected) => {
  const { query } = drive(
    [toolUse('SendMessage', { to, message: 'hi' }, 'send'), text('ok')],
    {},
    { ...AGENT, rules: allow('SendMessage') },
  );
  const messages = await collect(query);
  const user = messages.find((it) => it.type === 'user' && it.tool_use_result !== undefined);
  expect(user).toMatchObject({ tool_use_result: expected });
});

test('ListAgents lists name, type and status', async () => {
  const { query, model } = drive(
    (request, n) => {
      if (first(request).includes('NAP')) return text('rested');
      if (n === 1) return agent('NAP', 'call', { name: 'napper', run_in_background: false });
      return results(request).list === undefined ? toolUse('ListAgents', {}, 'list') : text('ok');
    },
    {},
    AGENT,
  );
  await collect(query);
  expect(results(model.requests.at(-1)).list).toMatch(
    /^Subagents \(1\):\n {2}napper \[\w+\] {2}· {2}general-purpose {2}· {2}completed/,
  );
});

test('only the latest agents are kept with their conversations', async () => {
  const COUNT = 103;
  const { query, model } = drive(
    (request) => {
      if (first(request).includes('NAP')) return text('rested');
      const started = Object.keys(results(request)).length;
      if (started < COUNT)
        return agent('NAP', `call${started}`, { name: `napper${started}`, run_in_background: false });
      if (started === COUNT)
        return toolUse('SendMessage', { to: 'napper0', message: 'more', summary: 'm' }, 'old');
      return results(request).list === undefined ? toolUse('ListAgents', {}, 'list') : text('ok');
    },
    {},
    AGENT,
  );
  await collect(query);
  const { list, old } = results(model.requests.at(-1));
  expect(list).toMatch(/^Subagents \(100\):/);
  expect(list).not.toContain('napper2 ');
  expect(list).toContain('napper3 ');
  expect(old).toContain('napper0');
  expect(model.requests.filter((request) => first(request).includes('NAP'))).toHaveLength(COUNT);
});

test('agents of the third level cannot start others', async () => {
  const { query, model } = drive(
    (request, n) => {
      const level = Number(/LEVEL(\d)/.exec(first(request))?.[1] ?? 0);
      const canStart = request.tools.some(({ name }) => name === 'Agent');
      const isNew = request.messages.length === 1;
      if (!isNew) return text(`end of ${level}`);
      return canStart
        ? agent(`LEVEL${level + 1}`, `call${n}`, { run_in_background: false })
        : text(`bottom ${level}`);
    },
    {},
    AGENT,
  );
  expect(resultOf(await collect(query))).toMatchObject({ result: 'end of 0' });
  expect(model.requests.map(({ tools }) => tools.some(({ name }) => name === 'Agent')).slice(0, 4)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('more agents than may run at once are refused', async () => {
  const working = gate();
  const { query, model } = drive(
    async (request, n) => {
      if (first(request).includes('SLOW')) {
        await working.pass();
        return text('done');
      }
      if (n === 1) return together(agent('SLOW1', 'one'), agent('SLOW2', 'two'), agent('SLOW3', 'three'));
      working.open();
      return text('ok');
    },
    {},
    { ...AGENT, maxSubAgents: 2 },
  );
  await collect(query);
  const answer = model.requests.map((request) => results(request).three).find((it) => it !== undefined);
  expect(answer).toMatch(/^!2 agents are running.*CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS/);
});

test('stop_task ends an agent; the model is notified with its next prompt', async () => {
  const working = gate();
  const { send, ask, result, find, model } = raw(async (request, n) => {
    if (first(request).includes('LONG')) {
      await working.pass();
      return text('never');
    }
    return n === 1 ? agent('LONG', 'call') : text('ok');
  }, AGENT);
  await ask('initialize');
  await send({ type: 'user', message: { role: 'user', content: 'one' } });
  await result(1);
  const started = await find(({ subtype }) => subtype === 'task_started');
  await ask('stop_task', { task_id: started.task_id });
  expect(await find(({ subtype }) => subtype === 'task_notification')).toMatchObject({ status: 'stopped' });
  await send({ type: 'user', message: { role: 'user', content: 'two' } });
  await result(2);
  expect(texts(model.requests.at(-1)).join()).toMatch(/<status>killed<\/status>/);
  working.open();
});
