import { expect, test } from 'vitest';
import {
  type AgentDefinition,
  BUILT_IN_AGENTS,
} from '../../../src/agent/builtins/agents/agent-definition.ts';
import type { Model, ModelRequest } from '../../../src/agent/models/model.ts';
import { scriptedModel, text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { aliasesOf } from '../../../src/pool/unique-names.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';
import { allow, calc, drive, raw, resultOf, results, said, texts, untilResult } from '../../support/drive.ts';
import { fixture, isAlive } from '../../support/fixture-server.ts';
import { gate } from '../../support/gate.ts';

const task = (type = 'general-purpose', id = 'task', more: object = {}) =>
  toolUse(
    'Agent',
    {
      description: 'a task',
      prompt: `work of ${id}`,
      subagent_type: type,
      run_in_background: false,
      ...more,
    },
    id,
  );

const isLead = ({ messages }: ModelRequest) => !JSON.stringify(messages[0]).includes('work of');
/** The tools of a request besides `Agent`, which all agents of lower depth have. */
const offered = (request: ModelRequest | undefined) =>
  request?.tools.map(({ name }) => name).filter((name) => name !== 'Agent');

/** The result of a call that waits for its agent. */
const report = (text: string) =>
  expect.stringMatching(new RegExp(`indented.*\\n  ${text}\\n\\nagentId: a`, 's'));

const kind = (more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  description: 'A kind',
  prompt: 'You are of a kind.',
  ...more,
});

test('a sub-agent works on the live connections of the session (R149, C19)', async () => {
  const { query, model, frames } = drive(
    [task(), toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('three'), text('It is three.')],
    { mcpServers: { calc: calc() } },
    { builtIns: ['Agent', 'Read'], rules: allow('mcp__calc', 'Agent') },
  );
  const messages = await collect(query);
  expect(resultOf(messages)).toMatchObject({ result: 'It is three.', num_turns: 2 });
  expect(offered(model.requests[1])).toEqual(['Read', 'mcp__calc__add', 'mcp__calc__boom']);
  expect(model.requests[1]?.system).toContain('You work on one task');
  expect(texts(model.requests[1])).toEqual(['work of task']);
  expect(results(model.requests[2])).toEqual({ t1: '3' });
  expect(results(model.requests[3])).toEqual({ task: report('three') });
  expect(parents(messages)).toEqual([
    ['assistant', null],
    ['user', 'task'],
    ['assistant', 'task'],
    ['user', 'task'],
    ['user', null],
    ['assistant', null],
  ]);
  // The sub-agent uses the existing connection: there is no second handshake.
  const asked = frames.filter(
    ({ frame }) => (frame.request as { subtype?: string })?.subtype === 'mcp_message',
  );
  expect(asked.map(({ frame }) => (frame.request as { message: { method: string } }).message.method)).toEqual(
    ['tools/call'],
  );
});

function parents(messages: readonly SDKMessage[]) {
  return messages.flatMap((message) =>
    message.type === 'assistant' || message.type === 'user'
      ? [[message.type, message.parent_tool_use_id]]
      : [],
  );
}

test.each([
  ['only some', { tools: ['Read', 'mcp__calc__add'] }, ['Read', 'mcp__calc__add']],
  ['a whole server', { tools: ['mcp__calc'] }, ['mcp__calc__add', 'mcp__calc__boom']],
  ['a server by its star', { tools: ['mcp__calc__*'] }, ['mcp__calc__add', 'mcp__calc__boom']],
  ['all but some', { disallowedTools: ['mcp__calc__add', 'Bash'] }, ['Read', 'mcp__calc__boom']],
  ['none of a server', { disallowedTools: ['mcp__calc'] }, ['Bash', 'Read']],
  ['none', { tools: [] }, []],
  ['never what the lead alone has', { tools: ['Agent', 'connect_mcp', 'Read'] }, ['Read']],
  ['no server at all', { mcpServers: [] }, ['Bash', 'Read']],
  ['a server by name', { mcpServers: ['calc'], tools: ['mcp__calc__boom'] }, ['mcp__calc__boom']],
])('tools of a kind: %s', async (_, more, expected) => {
  const { query, model } = drive(
    [task('k'), text('done'), text('ok')],
    { mcpServers: { calc: calc() } },
    { builtIns: ['Agent', 'connect_mcp', 'Read', 'Bash'], rules: allow('Agent'), agents: { k: kind(more) } },
  );
  await collect(query);
  expect(offered(model.requests[1])).toEqual(expected);
});

test.each([
  ['an alias', [aliasesOf('prod__db', 'drop')[0] ?? ''], ['mcp__my_server__read_it', 'mcp__prod__db__drop']],
  ['a full name that two servers have', ['mcp__prod__db__drop'], ['mcp__my_server__read_it']],
  ['a pattern', ['mcp__prod__db__dr*'], ['mcp__my_server__read_it']],
  ['a name as its server writes it', ['mcp__prod', 'mcp__prod__db', 'mcp__my server__read.it'], []],
])('the lists of a definition remove tools: %s', async (_, disallowedTools, expected) => {
  const { query, model } = drive(
    [task('k'), text('done'), text('ok')],
    {
      mcpServers: {
        prod: toolServer('a').tool('db__drop', 'd', {}, () => ''),
        prod__db: toolServer('b').tool('drop', 'd', {}, () => ''),
        'my server': toolServer('c').tool('read.it', 'd', {}, () => ''),
      },
    },
    { builtIns: ['Agent'], rules: allow('Agent'), agents: { k: kind({ disallowedTools }) } },
  );
  await collect(query);
  expect(offered(model.requests[1])).toEqual(expected);
});

test('a sub-agent cannot call tools that it was not offered', async () => {
  const { query, model } = drive(
    [
      task('k'),
      together(toolUse('mcp__calc__add', { a: 1, b: 1 }, 't1'), task('k', 't2')),
      text('done'),
      text('ok'),
    ],
    { mcpServers: { calc: calc() } },
    { builtIns: ['Agent'], rules: allow('Agent', 'mcp__calc'), agents: { k: kind({ tools: ['Read'] }) } },
  );
  await collect(query);
  expect(results(model.requests[2])).toEqual({
    t1: '!<tool_use_error>Error: No such tool available: mcp__calc__add</tool_use_error>',
    t2: '!<tool_use_error>Error: No such tool available: Agent</tool_use_error>',
  });
});

test('leadOnly: sub-agents get no tools of servers (R148)', async () => {
  const { query, model } = drive(
    [task(), text('done'), text('ok')],
    { mcpServers: { calc: calc() } },
    { builtIns: ['Agent', 'Read'], rules: allow('Agent'), leadOnly: true },
  );
  await collect(query);
  expect(offered(model.requests[1])).toEqual(['Read']);
});

test('a server of a definition is started for the sub-agent and closed with it', async () => {
  const { query, model, session } = drive(
    [task('k'), toolUse('mcp__own__pid', {}, 't1'), text('done'), text('ok')],
    {},
    {
      builtIns: ['Agent'],
      rules: allow('Agent', 'mcp__own'),
      agents: { k: kind({ mcpServers: [{ own: fixture() }] }) },
    },
  );
  await collect(query);
  const { t1 } = results(model.requests[2]);
  expect(Number(t1)).toBeGreaterThan(0);
  expect(isAlive(Number(t1))).toBe(false);
  expect(model.requests.map((request) => offered(request)?.includes('mcp__own__pid'))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(session().servers.all.size).toBe(0);
});

test("a sub-agent's server with the name of a trusted one is not trusted and has its own limits", async () => {
  const asked: unknown[] = [];
  const reading = toolServer('s').tool('echo', 'Reads', {}, () => 'mine', {
    annotations: { readOnlyHint: true },
  });
  const { query, model } = drive(
    [
      task('k'),
      together(toolUse('mcp__s__echo', {}, 't1'), toolUse('mcp__s__wait', {}, 't2')),
      text('done'),
      text('ok'),
    ],
    {
      mcpServers: { s: reading },
      canUseTool: async (name, _, { mcpServer, agentID }) => {
        asked.push([name, mcpServer, typeof agentID]);
        return name === 'mcp__s__wait' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' };
      },
    },
    { builtIns: ['Agent'], agents: { k: kind({ mcpServers: [{ s: fixture({ timeout: 100 }) }] }) } },
  );
  await collect(query);
  expect(asked).toEqual([
    ['mcp__s__echo', { name: 's', source: 'dynamic' }, 'string'],
    ['mcp__s__wait', { name: 's', source: 'dynamic' }, 'string'],
  ]);
  expect(results(model.requests[2])).toEqual({
    t1: '!no',
    t2: '!MCP server "s": tool "wait" timed out after 100 ms; raise "timeout" of the server entry if it may take longer',
  });
});

test.each([
  ['the session', {}, {}, 'm'],
  ['its kind', { model: 'small' }, {}, 'small'],
  ['the call', { model: 'small' }, { model: 'large' }, 'large'],
])('a sub-agent uses the model of %s', async (_, more, given, expected) => {
  const { query, model } = drive(
    [task('k', 'task', given), text('done'), text('ok')],
    {},
    { builtIns: ['Agent'], rules: allow('Agent'), agents: { k: kind(more) } },
  );
  const result = resultOf(await collect(query));
  expect(model.requests.map((request) => request.model)).toEqual(['m', expected, 'm']);
  expect(Object.keys((result as { modelUsage: object }).modelUsage).sort()).toEqual(
    [...new Set(['m', expected])].sort(),
  );
});

test.each([
  [2, 2],
  [1.5, 1],
  [0, 1],
])(
  'maxTurns %d of a definition ends the sub-agent, and the lead gets the reason',
  async (maxTurns, replies) => {
    const { query, model } = drive(
      (request, n) => {
        if (!isLead(request)) return toolUse('mcp__calc__add', { a: n, b: 0 });
        return n === 1 ? task('k') : text('ok');
      },
      { mcpServers: { calc: calc() } },
      { builtIns: ['Agent'], rules: allow('Agent', 'mcp__calc'), agents: { k: kind({ maxTurns }) } },
    );
    await collect(query);
    expect(results(model.requests.at(-1)).task).toEqual(
      report(`\\(The agent returned no text.\\)\\n  \\(The agent was stopped after ${replies} turns.\\)`),
    );
    expect(model.requests).toHaveLength(2 + replies);
  },
);

test('denials of a sub-agent are listed in the result of the turn', async () => {
  const { query } = drive(
    [task(), toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('could not'), text('ok')],
    { mcpServers: { calc: calc() }, canUseTool: async () => ({ behavior: 'deny', message: 'no' }) },
    { builtIns: ['Agent'], rules: allow('Agent') },
  );
  expect(resultOf(await collect(query))).toMatchObject({
    permission_denials: [{ tool_name: 'mcp__calc__add', tool_use_id: 't1' }],
  });
});

test.each(['unknown', 'constructor', '__proto__', 'toString'])(
  'rejects the unknown sub-agent type "%s"',
  async (type) => {
    const { query, model } = drive(
      [task(type), text('ok')],
      {},
      { builtIns: ['Agent'], rules: allow('Agent') },
    );
    await collect(query);
    expect(results(model.requests[1]).task).toMatch(
      /^!Agent type '.*' not found. Available agents: .*general-purpose/,
    );
  },
);

test('definitions of the program are offered by name and description; invalid ones are dropped', async () => {
  const { ask } = raw([], { builtIns: ['Agent'] });
  const agents = JSON.parse(
    '{"__proto__": {"description": "odd", "prompt": "p"}, "bad": 7, "k": {"description": "d", "prompt": "p"}}',
  );
  const { response } = (await ask('initialize', { agents })) as { response: { agents: { name: string }[] } };
  const [plan = '', ...others] = Object.keys(BUILT_IN_AGENTS).reverse();
  expect(response.agents.map(({ name }) => name)).toEqual([...others.reverse(), 'k', plan]);
});

test('two Agent calls of one reply run concurrently', async () => {
  const left = gate();
  const right = gate();
  const { query, model } = drive(
    async (request) => {
      if (isLead(request))
        return model.requests.length === 1
          ? together(task('general-purpose', 'l'), task('general-purpose', 'r'))
          : text('ok');
      const isLeft = texts(request)[0] === 'work of l';
      await (isLeft ? left : right).pass();
      return text(isLeft ? 'left' : 'right');
    },
    {},
    { builtIns: ['Agent'], rules: allow('Agent') },
  );
  const reading = collect(query);
  // Both calls have started before either may continue.
  await Promise.all([left.reached, right.reached]);
  right.open();
  left.open();
  await reading;
  expect(results(model.requests.at(-1))).toEqual({ l: report('left'), r: report('right') });
});

test('an interrupt reaches sub-agents and their servers; nothing is sent after the result', async () => {
  const reached = gate();
  const next = Promise.withResolvers<void>();
  async function* prompts() {
    yield said('one');
    await next.promise;
    yield said('two');
  }
  let pid = 0;
  const { query, session } = drive(
    async (request, n) => {
      if (isLead(request)) return n === 1 ? task('k') : text('second');
      if (n === 2) return toolUse('mcp__own__pid', {}, 'pid');
      pid = Number(results(request).pid);
      await reached.pass();
      return text('never');
    },
    { prompt: prompts() },
    {
      builtIns: ['Agent'],
      rules: allow('Agent', 'mcp__own'),
      agents: { k: kind({ mcpServers: [{ own: fixture() }] }) },
    },
  );
  const first = untilResult(query);
  await reached.reached;
  await query.interrupt();
  expect(resultOf(await first)).toMatchObject({ subtype: 'error_during_execution' });
  next.resolve();
  const second = await untilResult(query);
  expect(parents(second)).toEqual([['assistant', null]]);
  await collect(query);
  await session().done;
  expect(isAlive(pid)).toBe(false);
});

test('a sub-agent whose model ignores the interrupt sends nothing after the result', async () => {
  const speaking = gate();
  const script = scriptedModel((request, n) => {
    if (!isLead(request)) return text('too late');
    return n === 1 ? task() : text('second');
  });
  const spoken = Promise.withResolvers<void>();
  const model: Model = {
    ...script,
    async *stream(request) {
      if (isLead(request)) return yield* script.stream(request);
      const events = await collect(script.stream({ ...request, signal: new AbortController().signal }));
      await speaking.pass();
      yield* events;
      spoken.resolve();
    },
  };
  const { send, ask, result, seen } = raw([], { model, builtIns: ['Agent'], rules: allow('Agent') });
  await send({ type: 'user', message: { role: 'user', content: 'one' } });
  await speaking.reached;
  await ask('interrupt');
  await result(1);
  const before = seen.length;
  speaking.open();
  await spoken.promise;
  await ask('mcp_status');
  expect(seen.slice(before).filter(({ type }) => type === 'assistant')).toEqual([]);
});

test('a denial with interrupt inside a sub-agent ends the whole turn', async () => {
  const { query, model } = drive(
    [task(), toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1')],
    {
      mcpServers: { calc: calc() },
      canUseTool: async () => ({ behavior: 'deny', message: 'stop everything', interrupt: true }),
    },
    { builtIns: ['Agent'], rules: allow('Agent') },
  );
  expect(resultOf(await collect(query))).toMatchObject({ subtype: 'error_during_execution' });
  expect(model.requests).toHaveLength(2);
});

test('a model error in a sub-agent is an error result for the lead', async () => {
  const { query, model } = drive(
    (request, n) => {
      if (isLead(request)) return n === 1 ? task() : text('ok');
      throw new Error('no model today');
    },
    {},
    { builtIns: ['Agent'], rules: allow('Agent') },
  );
  expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success', result: 'ok' });
  expect(results(model.requests.at(-1)).task).toBe('!The agent failed: no model today');
});

test.each<[Partial<AgentDefinition>]>([[{}], [{ permissionMode: 'acceptEdits' }]])(
  'mode plan applies to sub-agents, also with %j',
  async (more) => {
    const { query, model } = drive(
      [task(), toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('could not'), text('ok')],
      { mcpServers: { calc: calc() }, canUseTool: async () => ({ behavior: 'allow' }) },
      {
        builtIns: ['Agent'],
        permissionMode: 'plan',
        agents: { 'general-purpose': kind(more) },
      },
    );
    await collect(query);
    expect(results(model.requests[2]).t1).toMatch(/^!mode plan/);
  },
);
