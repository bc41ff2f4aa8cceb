import { expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';
import { allow, calc, drive, kinds } from '../../support/drive.ts';

test('a tool of the program is offered to the model, called, and its result is in the next request (R3)', async () => {
  const { query, model, session } = drive(
    [toolUse('mcp__calc__add', { a: 2, b: 40 }, 't1'), text('It is 42.')],
    { mcpServers: { calc: calc() } },
    { rules: allow('mcp__calc') },
  );
  const messages = await collect(query);
  await session().done;
  expect(kinds(messages)).toEqual(['system init', 'assistant', 'user', 'assistant', 'result success']);
  expect(messages.at(-1)).toMatchObject({ result: 'It is 42.', num_turns: 2, is_error: false });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['mcp__calc__add', 'mcp__calc__boom']);
  expect(model.requests[1]?.messages.at(-1)).toEqual({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '42' }] }],
  });
});

test('a tool that fails is told to the model; a tool nobody has is refused by name (C34)', async () => {
  const { query, model } = drive(
    [together(toolUse('mcp__calc__boom', {}, '1'), toolUse('mcp__none__x', {}, '2')), text('ok')],
    { mcpServers: { calc: calc() } },
    { rules: allow('mcp__calc') },
  );
  await collect(query);
  expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
    { type: 'tool_result', tool_use_id: '1', content: 'kaboom', is_error: true },
    {
      type: 'tool_result',
      tool_use_id: '2',
      content: 'No such tool available: mcp__none__x',
      is_error: true,
    },
  ]);
});

test.each([
  ['allows', async () => ({ behavior: 'allow' as const }), [{ type: 'text', text: '3' }], undefined],
  [
    'changes the input of',
    async () => ({ behavior: 'allow' as const, updatedInput: { a: 10, b: 10 } }),
    [{ type: 'text', text: '20' }],
    undefined,
  ],
  ['denies', async () => ({ behavior: 'deny' as const, message: 'not today' }), 'not today', true],
  [
    'throws about',
    async () => Promise.reject(new Error('oops')),
    'Tool permission request failed: Error: oops',
    true,
  ],
])('canUseTool %s a call that no rule allows', async (_, canUseTool, content, is_error) => {
  const { query, model } = drive([toolUse('mcp__calc__add', { a: 1, b: 2 }, '1'), text('ok')], {
    mcpServers: { calc: calc() },
    canUseTool,
  });
  await collect(query);
  expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
    { type: 'tool_result', tool_use_id: '1', content, ...(is_error && { is_error }) },
  ]);
});

test('without a callback what no rule allows is denied, and the result says so', async () => {
  const { query } = drive([toolUse('mcp__calc__add', { a: 1, b: 2 }, '1'), text('ok')], {
    mcpServers: { calc: calc() },
  });
  const messages = await collect(query);
  expect(messages.at(-1)).toMatchObject({
    permission_denials: [{ tool_name: 'mcp__calc__add', tool_use_id: '1', tool_input: { a: 1, b: 2 } }],
  });
});

test('maxTurns ends a turn with a failed result', async () => {
  const { query } = drive(
    () => toolUse('mcp__calc__add', { a: 1, b: 2 }),
    { mcpServers: { calc: calc() } },
    {
      rules: allow('mcp__calc'),
      maxTurns: 2,
    },
  );
  expect((await collect(query)).at(-1)).toMatchObject({ subtype: 'error_max_turns', num_turns: 2 });
});

test('interrupt ends a slow tool; the next turn works', async () => {
  const started = Promise.withResolvers<void>();
  const slow = toolServer('slow').tool('wait', 'Waits', {}, async (_, { signal }) => {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'late';
  });
  const next = Promise.withResolvers<void>();
  async function* prompts() {
    yield {
      type: 'user' as const,
      message: { role: 'user' as const, content: 'one' },
      parent_tool_use_id: null,
    };
    await next.promise;
    yield {
      type: 'user' as const,
      message: { role: 'user' as const, content: 'two' },
      parent_tool_use_id: null,
    };
  }
  const { query } = drive(
    [toolUse('mcp__slow__wait', {}, '1'), text('second')],
    { mcpServers: { slow }, prompt: prompts() },
    { rules: allow('mcp__slow') },
  );
  const results: string[] = [];
  const reading = (async () => {
    for await (const message of query) {
      if (message.type !== 'result') continue;
      results.push(message.subtype);
      next.resolve();
    }
  })();
  await started.promise;
  expect(await query.interrupt()).toEqual({ still_queued: [] });
  await reading;
  expect(results).toEqual(['error_during_execution', 'success']);
});

test('a bad server beside a good one: the good one serves, the bad one says why', async () => {
  const { query } = drive(
    [text('hi')],
    { mcpServers: { calc: calc() } },
    { servers: { bad: { command: '/nowhere/server' } } },
  );
  const messages = await collect(query);
  expect(messages[0]).toMatchObject({
    tools: ['mcp__calc__add', 'mcp__calc__boom'],
    mcp_servers: [
      { name: 'bad', status: 'failed' },
      { name: 'calc', status: 'connected' },
    ],
  });
});

test('an unknown control request is refused by name', async () => {
  const { query } = drive([text('hi')]);
  await expect(query.reloadSkills()).rejects.toMatchObject({
    code: 'control-failed',
    errorCode: 'unsupported_request',
  });
  await collect(query);
});
