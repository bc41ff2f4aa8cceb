import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { RegisteredHook } from '../../../src/hooks/match-hooks.ts';
import { aliasesOf } from '../../../src/pool/unique-names.ts';
import type { HookEvent, HookInput } from '../../../src/protocol/hook.ts';
import type { HookJSONOutput } from '../../../src/protocol/hook-output.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';
import { allow, asks, calc, drive, raw, resultOf, results, said, texts } from '../../support/drive.ts';
import { PNG } from '../results/sources.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

const ADD = toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1');

type Answer = HookJSONOutput | undefined;

/** Callbacks for these events that record their inputs in one list. */
function listen(answers: Partial<Record<HookEvent, Answer | ((input: HookInput) => Answer)>>) {
  const heard: HookInput[] = [];
  const hooks = Object.fromEntries(
    Object.entries(answers).map(([event, answer]) => [
      event,
      [
        {
          hooks: [
            async (input: HookInput) => {
              heard.push(input);
              return (typeof answer === 'function' ? answer(input) : answer) ?? {};
            },
          ],
        },
      ],
    ]),
  ) as NonNullable<Options['hooks']>;
  return { hooks, heard, events: () => heard.map((it) => it.hook_event_name) };
}

const specific = (hookEventName: HookEvent, more: object): HookJSONOutput =>
  ({ hookSpecificOutput: { hookEventName, ...more } }) as HookJSONOutput;

test('the hooks of one approved call run in order with their inputs', async () => {
  const { hooks, heard, events } = listen({
    UserPromptSubmit: {},
    PreToolUse: {},
    PermissionRequest: {},
    Notification: {},
    PostToolUse: {},
    PostToolBatch: {},
    Stop: {},
  });
  const { query, session } = drive([ADD, text('It is 3.')], {
    prompt: 'what is it?',
    mcpServers: { calc: calc() },
    hooks,
    canUseTool: async () => ({ behavior: 'allow' }),
  });
  await collect(query);
  expect(events()).toEqual([
    'UserPromptSubmit',
    'PreToolUse',
    'Notification',
    'PermissionRequest',
    'PostToolUse',
    'PostToolBatch',
    'Stop',
  ]);
  const base = {
    session_id: session().id,
    transcript_path: '',
    cwd: '/w',
    prompt_id: heard[0]?.prompt_id,
    permission_mode: 'default',
  };
  const tool = {
    tool_name: 'mcp__calc__add',
    tool_input: { a: 1, b: 2 },
    mcp_server: { name: 'calc', source: 'sdk' },
  };
  const of = (name: string) => heard.find((it) => it.hook_event_name === name);
  expect(of('UserPromptSubmit')).toEqual({
    ...base,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'what is it?',
  });
  expect(of('PreToolUse')).toEqual({ ...base, ...tool, hook_event_name: 'PreToolUse', tool_use_id: 't1' });
  expect(of('Notification')).toMatchObject({ notification_type: 'permission_prompt' });
  expect(of('PermissionRequest')).toEqual({
    ...base,
    ...tool,
    hook_event_name: 'PermissionRequest',
    permission_suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'mcp__calc__add' }],
        behavior: 'allow',
        destination: 'session',
      },
    ],
  });
  expect(of('PostToolUse')).toEqual({
    ...base,
    ...tool,
    hook_event_name: 'PostToolUse',
    tool_use_id: 't1',
    tool_response: [{ type: 'text', text: '3' }],
    duration_ms: expect.any(Number),
  });
  expect(of('PostToolBatch')).toMatchObject({
    tool_calls: [
      { tool_name: 'mcp__calc__add', tool_use_id: 't1', tool_response: [{ type: 'text', text: '3' }] },
    ],
  });
  expect(of('Stop')).toEqual({
    ...base,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'It is 3.',
    background_tasks: [],
    session_crons: [],
  });
});

test('a failed call runs PostToolUseFailure instead of PostToolUse', async () => {
  const { hooks, heard } = listen({ PostToolUse: {}, PostToolUseFailure: {} });
  const { query } = drive(
    [toolUse('mcp__calc__boom', {}, 't1'), text('ok')],
    { mcpServers: { calc: calc() }, hooks },
    { rules: allow('mcp__calc') },
  );
  await collect(query);
  expect(heard).toMatchObject([
    { hook_event_name: 'PostToolUseFailure', error: 'kaboom', is_interrupt: false, tool_use_id: 't1' },
  ]);
});

test.each([
  [
    'deny',
    specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'hook says no' }),
    [],
    '!PreToolUse:mcp__calc__add hook error: hook says no',
    0,
  ],
  [
    'allow spares what the mode would ask',
    specific('PreToolUse', { permissionDecision: 'allow' }),
    [],
    '3',
    0,
  ],
  [
    'allow does not spare what a rule asks',
    specific('PreToolUse', { permissionDecision: 'allow' }),
    asks('mcp__calc'),
    '!asked',
    1,
  ],
  [
    'ask asks in spite of an allow rule',
    specific('PreToolUse', { permissionDecision: 'ask' }),
    allow('mcp__calc'),
    '!asked',
    1,
  ],
  [
    'updatedInput is what runs',
    specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { a: 20, b: 20 } }),
    [],
    '40',
    0,
  ],
  ['no opinion', {}, allow('mcp__calc'), '3', 0],
  [
    'garbage counts as a failure, which blocks',
    { decision: 'perhaps' } as never,
    allow('mcp__calc'),
    expect.stringMatching(/^!PreToolUse:mcp__calc__add hook error: A PreToolUse hook failed/),
    0,
  ],
])('PreToolUse: %s', async (_, answer, rules, expected, times) => {
  let asked = 0;
  const { query, model } = drive(
    [ADD, text('ok')],
    {
      mcpServers: { calc: calc() },
      hooks: listen({ PreToolUse: answer }).hooks,
      canUseTool: async () => {
        asked++;
        return { behavior: 'deny', message: 'asked' };
      },
    },
    { rules },
  );
  await collect(query);
  expect({ result: results(model.requests[1]).t1, asked }).toEqual({ result: expected, asked: times });
});

test('context added by hooks reaches the model in tags after the results', async () => {
  const { hooks } = listen({
    UserPromptSubmit: specific('UserPromptSubmit', { additionalContext: 'with the prompt' }),
    PreToolUse: specific('PreToolUse', { additionalContext: 'before' }),
    PostToolUse: specific('PostToolUse', { additionalContext: 'after' }),
    PostToolBatch: specific('PostToolBatch', { additionalContext: 'at the end' }),
  });
  const { query, model } = drive(
    [ADD, text('ok')],
    { mcpServers: { calc: calc() }, hooks },
    { rules: allow('mcp__calc') },
  );
  await collect(query);
  expect(texts(model.requests[0])).toEqual(['go', 'with the prompt']);
  expect(texts(model.requests[1])).toEqual(
    ['before', 'after', 'at the end'].map((it) => `<hook>\n${it}\n</hook>`),
  );
});

test('text of hooks is limited', async () => {
  const { hooks } = listen({
    UserPromptSubmit: specific('UserPromptSubmit', { additionalContext: 'x'.repeat(500_000) }),
  });
  const { query, model } = drive([text('ok')], { hooks });
  await collect(query);
  expect(texts(model.requests[0])[1]?.length).toBeLessThan(11_000);
});

test.each([
  ['a text', 'changed', 'changed'],
  [
    'MCP blocks',
    [
      { type: 'text', text: 'one' },
      { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' },
    ],
    'one[image][Image: source',
  ],
  ['a whole result', { content: [{ type: 'text', text: 'whole' }] }, 'whole'],
  ['any data', { x: 1 }, '{"x":1}'],
])('PostToolUse replaces the result by %s', async (_, value, expected) => {
  for (const member of ['updatedMCPToolOutput', 'updatedToolOutput']) {
    const { hooks } = listen({ PostToolUse: specific('PostToolUse', { [member]: value }) });
    const { query, model } = drive(
      [ADD, text('ok')],
      { mcpServers: { calc: calc() }, hooks },
      { rules: allow('mcp__calc'), resultsDirectory: await temporaryRoot() },
    );
    await collect(query);
    expect(results(model.requests[1]).t1?.startsWith(expected)).toBe(true);
    // The model's form, not MCP's.
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('mimeType');
  }
});

test.each(['PreToolUse', 'PostToolUse', 'PostToolBatch'] as const)(
  '"continue": false of %s ends the turn before further calls of the reply',
  async (event) => {
    const ran: string[] = [];
    const server = toolServer('s').tool('note', 'Notes', {}, () => {
      ran.push('note');
      return 'noted';
    });
    const { hooks } = listen({ [event]: { continue: false, stopReason: 'enough' } });
    const { query, model } = drive(
      [together(toolUse('mcp__s__note', {}, 't1'), toolUse('mcp__s__note', {}, 't2'))],
      { mcpServers: { s: server }, hooks },
      { rules: allow('mcp__s') },
    );
    const result = resultOf(await collect(query));
    expect(result).toMatchObject({ subtype: 'success', result: 'enough' });
    expect(model.requests).toHaveLength(1);
    expect(ran).toHaveLength({ PreToolUse: 0, PostToolUse: 1, PostToolBatch: 2 }[event]);
  },
);

test('UserPromptSubmit can block a prompt', async () => {
  const { hooks } = listen({ UserPromptSubmit: { decision: 'block', reason: 'not this' } });
  const { query, model, session } = drive([], { hooks });
  expect(resultOf(await collect(query))).toMatchObject({
    result: 'A hook blocked the prompt: not this',
  });
  expect(model.requests).toEqual([]);
  expect(session().conversation.messages).toEqual([]);
});

test('a Stop hook makes the agent continue with its reason, and stop_hook_active is set then', async () => {
  const { hooks, heard } = listen({
    Stop: (input) =>
      'stop_hook_active' in input && input.stop_hook_active
        ? {}
        : { decision: 'block', reason: 'test it first' },
  });
  const { query, model } = drive([text('done'), text('tested')], { hooks });
  expect(resultOf(await collect(query))).toMatchObject({ result: 'tested', num_turns: 2 });
  expect(texts(model.requests[1])).toEqual(['Stop hook feedback:\ntest it first']);
  expect(heard).toMatchObject([{ stop_hook_active: false }, { stop_hook_active: true }]);
});

test('a Stop hook that always blocks is limited', async () => {
  const { hooks } = listen({ Stop: { decision: 'block' } });
  const { query, model } = drive(() => text('done'), { hooks });
  expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success' });
  expect(model.requests).toHaveLength(9);
});

test('a Stop hook with "continue": false ends the turn', async () => {
  const { hooks } = listen({ Stop: { decision: 'block', reason: 'x', continue: false } });
  const { query, model } = drive(() => text('done'), { hooks });
  expect(resultOf(await collect(query))).toMatchObject({
    subtype: 'success',
    result: 'done',
    terminal_reason: 'stop_hook_prevented',
  });
  expect(model.requests).toHaveLength(1);
});

test('a call that a failed hook refuses is no denial, and one that a hook denies is', async () => {
  const denials = async (answer: HookJSONOutput | Promise<never>) => {
    const hooks = { PreToolUse: [{ hooks: [async () => answer], timeout: 0.05 }] };
    const { query, model } = drive([ADD, text('ok')], { mcpServers: { calc: calc() }, hooks });
    const result = resultOf(await collect(query));
    expect(results(model.requests[1]).t1).toMatch(/^!PreToolUse:mcp__calc__add hook error/);
    return result?.permission_denials;
  };
  expect(await denials(new Promise(() => {}))).toEqual([]);
  expect(await denials({ decision: 'block' })).toMatchObject([{ tool_use_id: 't1' }]);
});

test('a compaction runs PreCompact and PostCompact, and starts the session again', async () => {
  const { hooks, heard } = listen({
    PreCompact: {},
    PostCompact: {},
    SessionStart: specific('SessionStart', { additionalContext: 'after the compaction' }),
  });
  async function* prompts() {
    yield said(`one ${'word '.repeat(2000)}`);
    yield said('two');
    yield said('/compact the names');
    yield said('three');
  }
  const { query, model } = drive((_, n) => text(n < 3 ? 'a reply' : 'a summary'), {
    prompt: prompts(),
    hooks,
  });
  await collect(query);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('after the compaction');
  expect(heard).toMatchObject([
    { hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: 'the names' },
    { hook_event_name: 'PostCompact', trigger: 'manual', compact_summary: 'a summary' },
    { hook_event_name: 'SessionStart', source: 'compact', model: expect.any(String) },
  ]);
});

test("sub-agents run SubagentStart and SubagentStop, and their calls carry the agent's id", async () => {
  const { hooks, heard } = listen({
    SubagentStart: specific('SubagentStart', { additionalContext: 'be quick' }),
    SubagentStop: {},
    PreToolUse: {},
    PostToolUse: {},
  });
  const { query, model } = drive(
    [
      toolUse('Agent', { description: 'add', prompt: 'add 1 and 2', run_in_background: false }, 'task'),
      ADD,
      text('3'),
      text('done'),
    ],
    { mcpServers: { calc: calc() }, hooks },
    { builtIns: ['Agent'], rules: allow('mcp__calc', 'Agent') },
  );
  await collect(query);
  expect(texts(model.requests[1])).toEqual(['add 1 and 2', 'be quick']);
  const started = heard.find((it) => it.hook_event_name === 'SubagentStart');
  const who = { agent_id: started?.agent_id, agent_type: 'general-purpose' };
  expect(who.agent_id).toEqual(expect.any(String));
  expect(heard.map((it) => [it.hook_event_name, it.agent_id])).toEqual([
    ['PreToolUse', undefined],
    ['SubagentStart', who.agent_id],
    ['PreToolUse', who.agent_id],
    ['PostToolUse', who.agent_id],
    ['SubagentStop', who.agent_id],
    ['PostToolUse', undefined],
  ]);
  expect(heard.find((it) => it.hook_event_name === 'SubagentStop')).toMatchObject({
    ...who,
    stop_hook_active: false,
  });
});

test('a SubagentStop hook that always blocks is limited', async () => {
  const { hooks } = listen({ SubagentStop: { decision: 'block', reason: 'more' } });
  const { query, model } = drive(
    (request) => {
      const isLead = texts(request)[0] !== 'y';
      if (!isLead) return text('sub');
      return model.requests.length === 1
        ? toolUse('Agent', { description: 'x', prompt: 'y', run_in_background: false })
        : text('done');
    },
    { hooks },
    { builtIns: ['Agent'], rules: allow('Agent') },
  );
  expect(resultOf(await collect(query))).toMatchObject({ result: 'done' });
  expect(model.requests).toHaveLength(1 + 4 + 1);
});

const command = (event: HookEvent, line: string, more: Partial<RegisteredHook> = {}): RegisteredHook => ({
  event,
  target: { kind: 'command', command: line },
  ...more,
});

test('shell hooks run beside callbacks; the stricter decision wins', async () => {
  const { hooks, heard } = listen({ PreToolUse: specific('PreToolUse', { permissionDecision: 'allow' }) });
  const { query, model } = drive(
    [ADD, text('ok')],
    { mcpServers: { calc: calc() }, hooks },
    {
      hooks: [command('PreToolUse', 'echo "not in this shell" >&2; exit 2')],
      workspace: { cwd: '/', home: '/h', directories: [] },
    },
  );
  await collect(query);
  expect(heard).toHaveLength(1);
  expect(results(model.requests[1]).t1).toBe('!PreToolUse:mcp__calc__add hook error: not in this shell');
});

test('the start and the end of a session are no events for callbacks', async () => {
  const { hooks, heard } = listen({ SessionStart: {}, SessionEnd: {} });
  const { query, session } = drive([text('ok')], { hooks });
  await collect(query);
  await session().done;
  expect(heard).toEqual([]);
});

test('SessionStart output of a shell hook reaches the model; SessionEnd runs at the end', async () => {
  const cwd = await realpath(await temporaryRoot());
  const { query, model, session } = drive(
    [text('ok')],
    {},
    {
      workspace: { cwd, home: '/h', directories: [] },
      hooks: [
        command('SessionStart', 'echo hello from the shell'),
        command('SessionEnd', 'cat > ended.json'),
      ],
    },
  );
  await collect(query);
  await session().done;
  expect(texts(model.requests[0])).toEqual(['go', 'hello from the shell']);
  expect(JSON.parse(await readFile(join(cwd, 'ended.json'), 'utf8'))).toMatchObject({
    hook_event_name: 'SessionEnd',
    reason: 'other',
    session_id: session().id,
  });
});

test.each([
  ['PreToolUse', undefined, /^!PreToolUse:mcp__calc__add hook error: A PreToolUse hook failed/],
  ['PreToolUse', 'continue', /^3$/],
  ['PostToolUse', undefined, /^3$/],
] as const)('a %s command that fails, with onFailure %s', async (event, onFailure, expected) => {
  const notes: string[] = [];
  const { query, model } = drive(
    [ADD, text('ok')],
    { mcpServers: { calc: calc() } },
    {
      rules: allow('mcp__calc'),
      hooks: [command(event, 'exit 7', onFailure && { onFailure })],
      workspace: { cwd: '/', home: '/h', directories: [] },
      note: (it) => notes.push(it),
    },
  );
  await collect(query);
  expect(results(model.requests[1]).t1).toMatch(expected);
  expect(notes).toEqual([`a ${event} hook failed: the command exited with code 7`]);
});

test('a hook that exceeds its time limit blocks the call, and its callback is aborted', async () => {
  const told = Promise.withResolvers<void>();
  const { query, model } = drive(
    [ADD, text('ok')],
    {
      mcpServers: { calc: calc() },
      hooks: {
        PreToolUse: [
          {
            timeout: 0.05,
            hooks: [
              (_, __, { signal }) =>
                new Promise(() => {
                  signal.addEventListener('abort', () => told.resolve());
                }),
            ],
          },
        ],
      },
    },
    { rules: allow('mcp__calc') },
  );
  await collect(query);
  await told.promise;
  expect(results(model.requests[1]).t1).toMatch(/A PreToolUse hook failed: timed out after 0\.05 s/);
});

test('a second initialize does not run hooks twice', async () => {
  const { hooks, heard } = listen({ UserPromptSubmit: {} });
  const go = Promise.withResolvers<void>();
  async function* prompts() {
    await go.promise;
    yield said('go');
  }
  const { query } = drive([text('ok')], { hooks, prompt: prompts() });
  await query.reinitialize();
  go.resolve();
  await collect(query);
  expect(heard).toHaveLength(1);
});

test('system messages of hooks are reported', async () => {
  const notes: string[] = [];
  const { hooks } = listen({ UserPromptSubmit: { systemMessage: 'the disk is nearly full' } });
  const { query } = drive([text('ok')], { hooks }, { note: (it) => notes.push(it) });
  await collect(query);
  expect(notes).toEqual(['the disk is nearly full']);
});

test('invalid hooks in initialize are dropped', async () => {
  const { ask, send, result } = raw([text('ok')]);
  const hooks = {
    Stop: [null, {}, { hookCallbackIds: [7, null] }],
    __proto__: [],
    Unknown: [{ hookCallbackIds: ['x'] }],
  };
  expect(await ask('initialize', { hooks })).toMatchObject({ subtype: 'success' });
  await send({ type: 'user', message: { role: 'user', content: 'go' } });
  expect(await result()).toMatchObject({ subtype: 'success' });
});

test('a matcher with a full name applies to tools with an alias too', async () => {
  const events = [
    'PreToolUse',
    'PermissionRequest',
    'PermissionDenied',
    'PostToolUse',
    'PostToolUseFailure',
  ] as const;
  const heard: unknown[] = [];
  const hook = {
    matcher: 'mcp__prod__db__drop|mcp__prod__db__lock',
    hooks: [
      async (input: HookInput) => {
        const { tool_name, mcp_server } = input as Extract<HookInput, { hook_event_name: 'PreToolUse' }>;
        heard.push([input.hook_event_name, tool_name, mcp_server]);
        return {};
      },
    ],
  };
  const [drop = '', lock = ''] = ['drop', 'lock'].map((tool) => aliasesOf('prod__db', tool)[0]);
  const locked = () => {
    throw new Error('locked');
  };
  const { query } = drive([toolUse(drop), toolUse(lock), toolUse('mcp__prod__db__drop'), text('ok')], {
    mcpServers: {
      prod: toolServer('a')
        .tool('db__drop', 'd', {}, () => 'dropped')
        .tool('db__lock', 'd', {}, locked),
      prod__db: toolServer('b')
        .tool('drop', 'd', {}, () => 'dropped')
        .tool('lock', 'd', {}, locked),
    },
    hooks: Object.fromEntries(events.map((event) => [event, [hook]])),
    canUseTool: async (_, input, { mcpServer }) =>
      mcpServer?.name === 'prod'
        ? { behavior: 'deny', message: 'no' }
        : { behavior: 'allow', updatedInput: input },
  });
  await collect(query);
  const of = (tool: string) => ({ name: 'prod__db', source: 'sdk', tool });
  expect(heard).toEqual([
    ['PreToolUse', drop, of('drop')],
    ['PermissionRequest', drop, of('drop')],
    ['PostToolUse', drop, of('drop')],
    ['PreToolUse', lock, of('lock')],
    ['PermissionRequest', lock, of('lock')],
    ['PostToolUseFailure', lock, of('lock')],
    ['PreToolUse', 'mcp__prod__db__drop', { name: 'prod', source: 'sdk' }],
    ['PermissionRequest', 'mcp__prod__db__drop', { name: 'prod', source: 'sdk' }],
    ['PermissionDenied', 'mcp__prod__db__drop', { name: 'prod', source: 'sdk' }],
  ]);
});
