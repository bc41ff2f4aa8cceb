import { expect, test } from 'vitest';
import type { Frame } from '../../src/protocol/control-frame.ts';
import type { Query } from '../../src/sdk/query-interface.ts';
import { toolServer } from '../../src/tool-server/sdk-server.ts';
import { collect } from '../support/collect.ts';
import { playQuery, turn } from './support/fake-deps.ts';

type Row = readonly [
  name: string,
  call: (query: Query) => Promise<unknown>,
  request: Frame & { subtype: string },
  answer: Frame,
  returned: unknown,
];

const BODY = { some: 'body' };
const calc = toolServer('own').tool('t', 'T', { type: 'object' }, () => 1);
const stdio = { command: 'node', args: ['x'] };

/** Each method sends one request and returns the body of the response, a part of the body, or nothing. */
const ROWS: readonly Row[] = [
  [
    'interrupt',
    (q) => q.interrupt(),
    { subtype: 'interrupt' },
    { still_queued: ['u'] },
    { still_queued: ['u'] },
  ],
  [
    'interrupt, from an agent that does not tell',
    (q) => q.interrupt(),
    { subtype: 'interrupt' },
    {},
    undefined,
  ],
  [
    'setPermissionMode',
    (q) => q.setPermissionMode('plan'),
    { subtype: 'set_permission_mode', mode: 'plan' },
    BODY,
    undefined,
  ],
  [
    'setMcpPermissionModeOverride',
    (q) => q.setMcpPermissionModeOverride('calc', 'auto'),
    { subtype: 'set_mcp_permission_mode_override', serverName: 'calc', mode: 'auto' },
    BODY,
    BODY,
  ],
  [
    'setMcpPermissionModeOverride, none',
    (q) => q.setMcpPermissionModeOverride('calc', null),
    { subtype: 'set_mcp_permission_mode_override', serverName: 'calc', mode: null },
    {},
    {},
  ],
  ['setModel', (q) => q.setModel('m'), { subtype: 'set_model', model: 'm' }, BODY, undefined],
  ['setModel to the default', (q) => q.setModel(), { subtype: 'set_model' }, {}, undefined],
  [
    'setMaxThinkingTokens',
    (q) => q.setMaxThinkingTokens(1024),
    { subtype: 'set_max_thinking_tokens', max_thinking_tokens: 1024 },
    {},
    undefined,
  ],
  [
    'setMaxThinkingTokens with a display',
    (q) => q.setMaxThinkingTokens(null, 'omitted'),
    { subtype: 'set_max_thinking_tokens', max_thinking_tokens: null, thinking_display: 'omitted' },
    {},
    undefined,
  ],
  [
    'applyFlagSettings',
    (q) => q.applyFlagSettings({ model: null }),
    { subtype: 'apply_flag_settings', settings: { model: null } },
    BODY,
    undefined,
  ],
  [
    'updateSettings',
    (q) => q.updateSettings('localSettings', { a: 1 }),
    { subtype: 'update_settings', source: 'localSettings', settings: { a: 1 } },
    BODY,
    undefined,
  ],
  [
    'mcpServerStatus',
    (q) => q.mcpServerStatus(),
    { subtype: 'mcp_status' },
    { mcpServers: [{ name: 'a', status: 'pending' }] },
    [{ name: 'a', status: 'pending' }],
  ],
  [
    'mcpServerStatus, from an agent that tells nothing',
    (q) => q.mcpServerStatus(),
    { subtype: 'mcp_status' },
    {},
    [],
  ],
  ['getContextUsage', (q) => q.getContextUsage(), { subtype: 'get_context_usage' }, BODY, BODY],
  [
    'getContextUsage in short',
    (q) => q.getContextUsage({ detail: 'summary' }),
    { subtype: 'get_context_usage', detail: 'summary' },
    BODY,
    BODY,
  ],
  [
    'usage_EXPERIMENTAL…',
    (q) => q.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET({ skipBehaviors: true }),
    { subtype: 'get_usage', skip_behaviors: true },
    BODY,
    BODY,
  ],
  [
    'readFile',
    (q) => q.readFile('a.txt', { maxBytes: 10, encoding: 'base64' }),
    { subtype: 'read_file', path: 'a.txt', max_bytes: 10, encoding: 'base64' },
    BODY,
    BODY,
  ],
  [
    'readFile that is refused',
    (q) => q.readFile('a.txt'),
    { subtype: 'read_file', path: 'a.txt' },
    { error: 'no such file' },
    null,
  ],
  [
    'reloadPlugins',
    (q) =>
      q.reloadPlugins({
        holdOnCacheImpact: true,
        addPlugins: [{ type: 'local', path: '/p' }],
        refuseIfBusy: false,
      }),
    {
      subtype: 'reload_plugins',
      hold_on_cache_impact: true,
      add_plugins: [{ type: 'local', path: '/p' }],
      refuse_if_busy: false,
    },
    BODY,
    BODY,
  ],
  ['reloadSkills', (q) => q.reloadSkills(), { subtype: 'reload_skills' }, BODY, BODY],
  ['reloadOutputStyles', (q) => q.reloadOutputStyles(), { subtype: 'reload_output_styles' }, BODY, BODY],
  ['rewindFiles', (q) => q.rewindFiles('id'), { subtype: 'rewind_files', user_message_id: 'id' }, BODY, BODY],
  [
    'rewindFiles, not for real',
    (q) => q.rewindFiles('id', { dryRun: false }),
    { subtype: 'rewind_files', user_message_id: 'id', dry_run: false },
    BODY,
    BODY,
  ],
  [
    'seedReadState',
    (q) => q.seedReadState('/a', 12),
    { subtype: 'seed_read_state', path: '/a', mtime: 12 },
    BODY,
    undefined,
  ],
  [
    'reconnectMcpServer (C4)',
    (q) => q.reconnectMcpServer('calc'),
    { subtype: 'mcp_reconnect', serverName: 'calc' },
    BODY,
    undefined,
  ],
  [
    'toggleMcpServer',
    (q) => q.toggleMcpServer('calc', false),
    { subtype: 'mcp_toggle', serverName: 'calc', enabled: false },
    BODY,
    undefined,
  ],
  [
    'readMcpResource',
    (q) => q.readMcpResource('calc', 'ui://x'),
    { subtype: 'mcp_read_resource', serverName: 'calc', uri: 'ui://x' },
    BODY,
    BODY,
  ],
  [
    'setMcpServers',
    (q) => q.setMcpServers({ calc, st: stdio }),
    { subtype: 'mcp_set_servers', servers: { st: stdio, calc: { type: 'sdk', name: 'calc' } } },
    { added: ['calc'], removed: [], errors: {} },
    { added: ['calc'], removed: [], errors: {} },
  ],
  ['stopTask', (q) => q.stopTask('task-1'), { subtype: 'stop_task', task_id: 'task-1' }, BODY, undefined],
  [
    'backgroundTasks',
    (q) => q.backgroundTasks(),
    { subtype: 'background_tasks' },
    { backgrounded: true },
    true,
  ],
  [
    'backgroundTasks of one call',
    (q) => q.backgroundTasks('toolu_1'),
    { subtype: 'background_tasks', tool_use_id: 'toolu_1' },
    { backgrounded: false },
    false,
  ],
];

test.each(ROWS)('%s', async (_, call, request, answer, returned) => {
  const asked = Promise.withResolvers<Frame>();
  const { query, played } = playQuery(
    turn(async (agent) => asked.resolve(await agent.answer(request.subtype, answer))),
  );
  expect(await call(query)).toEqual(returned);
  expect(await asked.promise).toEqual(request);
  query.close();
  await played;
});

const READY: Frame = {
  commands: [{ name: 'c' }],
  models: [{ value: 'm' }],
  agents: [{ name: 'a' }],
  account: { email: 'e' },
  pid: 7,
};

test.each<[string, (query: Query) => Promise<unknown>, unknown]>([
  ['initializationResult', (q) => q.initializationResult(), expect.objectContaining(READY)],
  ['supportedCommands', (q) => q.supportedCommands(), READY.commands],
  ['supportedModels', (q) => q.supportedModels(), READY.models],
  ['supportedAgents', (q) => q.supportedAgents(), READY.agents],
  ['accountInfo', (q) => q.accountInfo(), READY.account],
])('%s sends no request: the value is in the initialize response', async (_, call, returned) => {
  const { query, script, played } = playQuery(async (agent) => {
    await agent.start(READY);
    await agent.prompt();
    agent.result('done');
  });
  expect(await call(query)).toEqual(returned);
  query.close();
  await played;
  expect(script.agent.sent.filter((frame) => frame.type === 'control_request')).toHaveLength(1);
});

test('a failure response rejects with its message and code', async () => {
  const { query, played } = playQuery(
    turn(async ({ agent }) => {
      const { request_id } = await agent.take({ type: 'control_request', request: { subtype: 'set_model' } });
      agent.emit({
        type: 'control_response',
        response: { subtype: 'error', request_id, error: 'no such model', error_code: 'bad_model' },
      });
    }),
  );
  await expect(query.setModel('x')).rejects.toMatchObject({
    code: 'control-failed',
    message: 'no such model',
    errorCode: 'bad_model',
  });
  query.close();
  await played;
});

test('a request that times out is cancelled, and the next request works', async () => {
  const { query, played } = playQuery(
    turn(async (agent) => {
      const { request_id } = await agent.agent.take({ request: { subtype: 'set_model' } });
      await agent.agent.take({ type: 'control_cancel_request', request_id });
      await agent.answer('mcp_status', { mcpServers: [] });
    }),
    { controlTimeoutMs: 20 },
  );
  await expect(query.setModel('x')).rejects.toMatchObject({
    code: 'timeout',
    message: 'The agent did not answer "set_model" within 20 ms',
  });
  expect(await query.mcpServerStatus()).toEqual([]);
  query.close();
  await played;
});

test('methods wait for initialize', async () => {
  const { query, script, played } = playQuery(async (agent) => {
    await agent.agent.take();
    expect(agent.agent.sent).toHaveLength(1);
    agent.agent.emit({
      type: 'control_response',
      response: { subtype: 'success', request_id: agent.agent.sent[0]?.request_id, response: {} },
    });
    await agent.prompt();
    await agent.answer('set_model');
    agent.result('done');
  });
  await query.setModel('m');
  query.close();
  await played;
  expect(script.agent.sent.map((frame) => (frame.request as Frame | undefined)?.subtype)).toEqual([
    'initialize',
    undefined,
    'set_model',
  ]);
});

test.each<[string, (query: Query) => Promise<unknown>]>([
  ['setModel', (q) => q.setModel('m')],
  ['interrupt', (q) => q.interrupt()],
  ['mcpServerStatus', (q) => q.mcpServerStatus()],
  ['setMcpServers', (q) => q.setMcpServers({ calc })],
  ['readFile', (q) => q.readFile('/a')],
])('%s on a closed query is rejected', async (_, call) => {
  const { query, played } = playQuery(turn());
  for await (const _message of query);
  await played;
  await expect(call(query)).rejects.toMatchObject({ code: 'closed' });
  expect(calc.instance.isConnected()).toBe(false);
});

test('an invalid server is rejected before a request is sent', async () => {
  const { query, played } = playQuery(turn());
  await expect(query.setMcpServers({ bad: {} as never })).rejects.toMatchObject({
    code: 'bad-server',
    server: 'bad',
  });
  await collect(query);
  await played;
});
