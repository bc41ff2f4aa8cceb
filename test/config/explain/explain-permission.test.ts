import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveSettings } from '../../../src/config/approval/approval-store.ts';
import { type Configuration, readConfiguration } from '../../../src/config/configuration.ts';
import { explainPermission } from '../../../src/config/explain/explain-permission.ts';
import { explainTimeout, formatDuration } from '../../../src/config/explain/explain-timeout.ts';
import { explainTool } from '../../../src/config/explain/explain-tool.ts';
import { resolveTool } from '../../../src/config/explain/resolve-tool.ts';
import { type ConfigPlace, configPlace } from '../config-place.ts';

const node = (more: object = {}) => ({ command: 'node', args: ['a.js'], ...more });

async function configured(
  user: object,
  files: Readonly<Record<string, object>> = {},
): Promise<[Configuration, ConfigPlace]> {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), user);
  for (const [path, value] of Object.entries(files)) place.write(join(place.project, path), value);
  return [await readConfiguration(place.world()), place];
}

test.each([
  ['mcp__a__read', { name: 'mcp__a__read', server: 'a', tool: 'read' }],
  ['a/read', { name: 'mcp__a__read', server: 'a', tool: 'read' }],
  ['mcp__a__b__c', { name: 'mcp__a__b__c', server: 'a__b', tool: 'c' }],
  ['mcp__my_server__x', { name: 'mcp__my_server__x', server: 'my server', tool: 'x' }],
  ['Bash', { name: 'Bash' }],
  ['mcp__none__x', { name: 'mcp__none__x' }],
])('%s is resolved by the configured servers, not by splitting the name (C15)', async (text, ref) => {
  const [configuration] = await configured({ mcpServers: { a: node(), a__b: node(), 'my server': node() } });
  expect(resolveTool(configuration, text)).toMatchObject(ref);
});

test('finds a listed tool by its own name or its alias', async () => {
  const [configuration] = await configured({ mcpServers: { a: node() } });
  const live = [{ name: 'mcp__a__alias', server: 'a', tool: 'a very long name' }];
  expect(resolveTool(configuration, 'a very long name', live)).toMatchObject(live[0] as object);
  expect(resolveTool(configuration, 'mcp__a__alias', live)).toMatchObject(live[0] as object);
});

test('names the deny rule with its file and line, and the rules it overrides', async () => {
  const place = configPlace();
  place.write(join(place.managed, 'managed-settings.json'), { permissions: { deny: ['mcp__x__drop'] } });
  place.write(join(place.home, 'settings.json'), {
    mcpServers: { x: node() },
    permissions: { ask: ['mcp__x'] },
  });
  const told = explainPermission(await readConfiguration(place.world()), 'mcp__x__drop');
  expect(told).toMatchObject({ decision: 'deny', status: 'unusable', mode: { mode: 'default' } });
  expect(told.rules).toMatchObject([
    { effect: 'deny', rule: 'mcp__x__drop', part: 'decides', at: { scope: 'managed', line: 4 } },
    { effect: 'ask', rule: 'mcp__x', part: 'overridden', at: { scope: 'user' } },
  ]);
  expect(told.next).toEqual([
    expect.stringMatching(
      /^ask your administrator to change the rule at .*managed-settings\.json:4:\d+, because no other rule overrides it$/,
    ),
  ]);
});

test('rules with a pattern are matched against the arguments of the call', async () => {
  const [configuration] = await configured({ permissions: { allow: ['Bash(git log:*)'] } });
  const facts = { isBuiltIn: true };
  const log = explainPermission(configuration, 'Bash', { ...facts, input: { command: 'git log -1' } });
  const push = explainPermission(configuration, 'Bash', { ...facts, input: { command: 'git push' } });
  expect([log.decision, log.rules[0]?.part]).toEqual(['allow', 'decides']);
  expect([push.decision, push.rules[0]?.part]).toEqual(['ask', 'other arguments']);
});

test.each([
  ['Bash(git push *)', 'Bash', 'ask', 'other arguments'],
  ['Read(~/.ssh/**)', 'Read', 'allow', 'other arguments'],
  ['Bash', 'Bash', 'deny', 'decides'],
  ['Bash(*)', 'Bash', 'deny', 'decides'],
])('the deny rule %s for %s without arguments: %s', async (rule, name, decision, part) => {
  const [configuration] = await configured({ permissions: { deny: [rule] } });
  const claims = { isBuiltIn: true, isAsked: true, annotations: { readOnlyHint: name === 'Read' } };
  const told = explainPermission(configuration, name, claims);
  expect([told.decision, told.rules[0]?.part]).toEqual([decision, part]);
  const step = `some rules depend on the arguments of the call; to explain one call: toolplane explain permission '${name}(<`;
  expect(told.next.some((it) => it.startsWith(step))).toBe(part === 'other arguments');
});

test('an allow rule in a project file is active only after approval of the file (C18)', async () => {
  const [configuration, place] = await configured(
    { mcpServers: { x: node() } },
    { '.toolplane/settings.json': { permissions: { allow: ['mcp__x'] } } },
  );
  const before = explainPermission(configuration, 'mcp__x__read');
  expect(before).toMatchObject({
    decision: 'ask',
    rules: [{ effect: 'allow', part: 'not approved', at: { scope: 'project' } }],
  });
  expect(before.next.at(-1)).toContain('toolplane mcp approve');
  for (const source of configuration.settingsSources)
    if (source.scope === 'project') approveSettings(place.home, source);
  expect(explainPermission(await readConfiguration(place.world()), 'mcp__x__read').decision).toBe('allow');
});

test('shows where the mode is set; an unknown tool has status unknown', async () => {
  const [configuration] = await configured({ permissions: { defaultMode: 'plan' } });
  const told = explainPermission(configuration, 'mcp__none__x');
  expect(told).toMatchObject({ status: 'unknown', decision: 'deny', mode: { mode: 'plan' } });
  expect(told.mode.says).toMatch(/settings\.json:3:\d+$/);
  expect(explainPermission(configuration, 'mcp__none__x', { mode: 'default' }).mode.says).toBe(
    'set by --permission-mode',
  );
});

test('the managed mode takes precedence over the flag; a file that is not approved sets no mode', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { permissions: { defaultMode: 'plan' } });
  place.write(join(place.project, '.toolplane/settings.json'), { permissions: { defaultMode: 'plan' } });
  const mine = await readConfiguration(place.world());
  expect(explainPermission(mine, 'Bash', { isBuiltIn: true }).mode.says).toMatch(
    /^set by ~\/\.toolplane\/settings\.json:3:\d+$/,
  );
  place.write(join(place.managed, 'managed-settings.json'), { permissions: { defaultMode: 'dontAsk' } });
  const ruled = await readConfiguration(place.world());
  const told = explainPermission(ruled, 'Bash', { isBuiltIn: true, mode: 'acceptEdits' });
  expect(told).toMatchObject({ decision: 'deny', mode: { mode: 'dontAsk' } });
  expect(told.mode.says).toMatch(/managed-settings\.json:3:\d+, which --permission-mode cannot change$/);
});

test('shows the location of the active rule, not of the same rule in a pending file', async () => {
  const place = configPlace();
  const allow = { permissions: { allow: ['Bash(ls)'] } };
  place.write(join(place.project, '.toolplane/settings.json'), allow);
  const [source] = (await readConfiguration(place.world())).settingsSources;
  approveSettings(place.home, source as typeof source & { path: string });
  const cwd = join(place.project, 'deep');
  place.write(join(cwd, '.toolplane/settings.json'), allow);
  const told = explainPermission(await readConfiguration(place.world({}, cwd)), 'Bash', {
    isBuiltIn: true,
    input: { command: 'ls' },
  });
  expect(told.decision).toBe('allow');
  expect(told.rules.map(({ part, at }) => [part, at?.label])).toEqual([
    ['decides', '../.toolplane/settings.json'],
    ['not approved', '.toolplane/settings.json'],
  ]);
});

test('lists matching hooks with their locations, and that they run first', async () => {
  const hook = (command: string) => ({ type: 'command', command });
  const hooks = {
    PreToolUse: [
      { matcher: 'Read', hooks: [hook('never')] },
      { matcher: 'Bash|Write', hooks: [hook('guard'), hook('log --token=hunter2hunter2')] },
    ],
    PostToolUse: [{ hooks: [hook('never')] }],
  };
  const [configuration] = await configured(
    { hooks, permissions: { allow: ['Bash(ls)'], deny: ['Write'] } },
    { '.toolplane/settings.json': { hooks } },
  );
  const told = explainPermission(configuration, 'Bash', { isBuiltIn: true, input: { command: 'ls' } });
  expect(told.decision).toBe('allow');
  expect(told.hooks).toMatchObject([
    { matcher: 'Bash|Write', command: 'guard', at: { scope: 'user', line: 16 } },
    { matcher: 'Bash|Write', command: 'log --token=[redacted]', at: { scope: 'user' } },
  ]);
  expect(told.answer).toMatch(/unless one of 2 PreToolUse hooks, which runs first, decides otherwise\.$/);
  const denied = explainPermission(configuration, 'Write', { isBuiltIn: true });
  expect(denied.hooks).toHaveLength(2);
  expect(denied.answer).not.toContain('unless');
});

test('a hook for the full name matches a tool with an alias', async () => {
  const hooks = {
    PreToolUse: [{ matcher: 'mcp__a__b__drop', hooks: [{ type: 'command', command: 'guard' }] }],
  };
  const [configuration] = await configured({ hooks, mcpServers: { a: node(), a__b: node() } });
  const ref = { name: 'mcp__a__b__drop_1234abcd', server: 'a__b', tool: 'drop' };
  expect(explainPermission(configuration, ref.name, { ref }).hooks).toMatchObject([{ command: 'guard' }]);
});

test.each([
  ['Bash', { command: 'git push' }, '"Bash(git push)"'],
  ['Bash', { command: 'ls *' }, '"Bash(ls \\\\*)"'],
  ['Bash', undefined, '"Bash(<command>)"'],
  ['Write', undefined, '"Write(<path>)"'],
  ['Write', { file_path: '/else/where' }, '"Write(//else/where)"'],
  ['WebFetch', { url: 'x' }, '"WebFetch"'],
])(
  'the rule that would allow %s %j is the one that the permission prompt offers',
  async (name, input, rule) => {
    const [configuration] = await configured({});
    const told = explainPermission(configuration, name, { isBuiltIn: true, ...(input && { input }) });
    expect(told.next[0]).toContain(`add ${rule} to permissions.allow`);
  },
);

test('without contacting the server, annotations are unknown and the next step contacts it', async () => {
  const [configuration] = await configured({ mcpServers: { x: node() } });
  const told = explainPermission(configuration, 'mcp__x__echo');
  expect(told.decision).toBe('ask');
  expect(told.answer).toBe(
    'mcp__x__echo requires approval: no rule allows it, and its annotations are unknown, since its server was not contacted.',
  );
  expect(told.next).toContain(
    'to read the annotations of the tool from its server: toolplane explain tool mcp__x__echo',
  );
  const pattern = explainPermission(configuration, 'mcp__x__*');
  expect(pattern.next).toContain('to see the matching tools: toolplane tools -s x');
  const asked = explainPermission(configuration, 'mcp__x__echo', { isAsked: true });
  expect(asked.reason).toBe('mcp__x__echo may be destructive');
  expect(asked.next).toHaveLength(1);
});

test.each([
  ['Bsh', 'Bash'],
  ['bash', 'Bash'],
  ['mcp__serber__echo', 'mcp__server__echo'],
  ['Frobnicate', undefined],
])('for the unknown tool %s, %s is suggested', async (name, meant) => {
  const [configuration] = await configured({ mcpServers: { server: node() } });
  const told = explainPermission(configuration, name, { isBuiltIn: false, builtIns: ['Bash', 'Read'] });
  const guess = meant === undefined ? '.' : `; did you mean "${meant}"?`;
  expect(told).toMatchObject({
    status: 'unknown',
    answer: `Unknown tool "${name}"${guess} A tool of this name requires approval: no rule allows it, and its annotations are unknown.`,
  });
  if (meant !== undefined) expect(told.next).toEqual([`toolplane explain permission ${meant}`]);
});

test('limits in a file that is not approved are marked pending and have no effect (C18)', async () => {
  const [configuration] = await configured(
    { mcpServers: { x: node({ timeout: 1000 }) } },
    {
      '.toolplane/settings.json': {
        timeouts: { callMs: 7, connectMs: 8 },
        serverSettings: {
          x: { idleTimeoutMs: 9, timeout: 5, toolTimeoutsMs: { slow: 6 } },
          y: { timeout: 3 },
        },
      },
    },
  );
  const { limits, next } = explainTimeout(configuration, 'x', 'slow');
  const pending = limits.map(({ limit, ms, candidates }) => [
    limit,
    ms,
    candidates.filter((it) => it.isPending).map((it) => [it.ms, it.by, it.isActive]),
  ]);
  expect(pending).toEqual([
    ['connect', 30_000, [[8, 'timeouts.connectMs of settings', false]]],
    [
      'call',
      1000,
      [
        [6, 'serverSettings.x.toolTimeoutsMs.slow', false],
        [5, 'serverSettings.x.timeout', false],
        [7, 'timeouts.callMs of settings', false],
      ],
    ],
    ['idle', undefined, [[9, 'serverSettings.x.idleTimeoutMs', false]]],
  ]);
  expect(limits[0]?.candidates.at(-1)?.at).toMatchObject({ scope: 'project', line: 4 });
  expect(next.at(-1)).toBe('review .toolplane/settings.json and approve it: toolplane mcp approve');
});

test('lists each limit with the values it overrides', async () => {
  const [configuration] = await configured({
    mcpServers: { x: node({ timeout: 1000, toolTimeoutsMs: { slow: 9000 }, idleTimeoutMs: 50 }) },
    serverSettings: { x: { timeout: 2000 } },
    timeouts: { callMs: 3000, connectMs: 4000 },
  });
  const { limits, answer } = explainTimeout(configuration, 'x');
  expect(limits.map(({ limit, ms, candidates }) => [limit, ms, candidates.map((it) => it.ms)])).toEqual([
    ['connect', 4000, [4000, 30_000]],
    ['call', 2000, [2000, 1000, 3000, 100_000_000]],
    ['idle', 50, [50]],
  ]);
  expect(limits[1]?.candidates[0]).toMatchObject({
    by: 'serverSettings.x.timeout',
    isActive: true,
    at: { scope: 'user' },
  });
  expect(answer).toContain('times out after 2 s, or after 50 ms without progress');
  expect(explainTimeout(configuration, 'x', 'slow').limits[1]).toMatchObject({ ms: 9000 });
  expect(explainTimeout(configuration, 'mcp__x__slow').limits[1]).toMatchObject({ ms: 9000 });
  expect(explainTimeout(configuration, 'y')).toMatchObject({ status: 'unknown', limits: [] });
});

test('limits of a managed entry cannot be overridden', async () => {
  const place = configPlace();
  const ofTools = { toolTimeoutsMs: { slow: 7000 } };
  place.write(join(place.managed, 'managed-mcp.json'), {
    mcpServers: { x: node({ timeout: 1000, ...ofTools }) },
  });
  const mine = { timeout: 9000, idleTimeoutMs: 50, toolTimeoutsMs: { slow: 1 } };
  place.write(join(place.home, 'settings.json'), { serverSettings: { x: mine } });
  const configuration = await readConfiguration(place.world());
  const { limits } = explainTimeout(configuration, 'x');
  expect(limits.map(({ limit, ms, candidates }) => [limit, ms, candidates.map((it) => it.ms)])).toEqual([
    ['connect', 30_000, [30_000]],
    ['call', 1000, [1000, 9000, 100_000_000]],
    ['idle', 50, [50]],
  ]);
  expect(limits[1]?.candidates[0]).toMatchObject({
    by: '"timeout" of the server entry',
    at: { scope: 'managed' },
  });
  expect(explainTimeout(configuration, 'x', 'slow').limits[1]).toMatchObject({ ms: 7000 });
  place.write(join(place.managed, 'managed-settings.json'), { serverSettings: { x: { timeout: 5000 } } });
  const ruled = explainTimeout(await readConfiguration(place.world()), 'x').limits[1];
  expect(ruled?.candidates.map((it) => it.ms)).toEqual([5000, 9000, 1000, 100_000_000]);
});

test.each([
  [1, '1 ms'],
  [1500, '1.5 s'],
  [60_000, '60 s'],
  [300_000, '5 min'],
  [86_400_000, '24 h'],
  [100_000_000, 'about 28 hours (100,000,000 ms)'],
  [200_000_000, 'about 2 days (200,000,000 ms)'],
])('%i ms are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

const live = {
  tools: [
    {
      name: 'mcp__x__read',
      server: 'x',
      tool: 'read',
      tokens: 7,
      annotations: { readOnlyHint: true },
      deferred: { is: false, says: 'few' },
    },
  ],
  builtIns: ['Bash'],
};
const connected = { state: 'connected', since: 0, attempt: 1, stderr: [], tools: 1 } as const;

test('explains a tool with its token cost, permission and timeouts', async () => {
  const [configuration] = await configured({ mcpServers: { x: node({ trust: true }) } });
  const told = explainTool(configuration, 'mcp__x__read', { live, status: connected });
  expect(told).toMatchObject({
    status: 'usable',
    server: 'x',
    tool: 'read',
    tokens: 7,
    offered: { is: true },
    deferred: { is: false },
    permission: { decision: 'allow' },
  });
  expect(told.timeouts).toHaveLength(3);
});

test('a changed tool requires approval whatever allows it', async () => {
  const [configuration] = await configured({ mcpServers: { x: node() }, permissions: { allow: ['mcp__x'] } });
  const [first] = live.tools;
  const changed = {
    ...live,
    tools: [{ ...first, changed: 'its description is another' } as (typeof live.tools)[0]],
  };
  const told = explainTool(configuration, 'x/read', { live: changed, status: connected });
  expect(told).toMatchObject({ changed: 'its description is another', permission: { decision: 'ask' } });
});

test.each([
  ['excludeTools', { excludeTools: ['rea*'] }, {}],
  ['includeTools', { includeTools: ['write'] }, {}],
  ['excludeTools', {}, { serverSettings: { x: { excludeTools: ['read'] } } }],
])('shows the location of the %s that excludes a tool', async (member, entry, settings) => {
  const [configuration] = await configured({ mcpServers: { x: node(entry) }, ...settings });
  const told = explainTool(configuration, 'mcp__x__read', { live, status: connected });
  expect(told).toMatchObject({ status: 'unusable', offered: { is: false } });
  expect(told.offered.says).toMatch(new RegExp(`^excluded by "${member}" at .*settings\\.json:\\d+:\\d+$`));
});

test.each([
  ['mcp__x__nope', 'unknown', 'the server does not list the tool'],
  ['nope', 'unknown', 'no built-in tool and no tool of a configured server has this name'],
  ['Bash', 'usable', 'built-in tool'],
])('%s: %s', async (name, status, says) => {
  const [configuration] = await configured({ mcpServers: { x: node() } });
  expect(explainTool(configuration, name, { live, status: connected })).toMatchObject({
    status,
    offered: { says },
  });
});

test.each([
  ['its schema', 'mcp__x__bad', '"inputSchema" must be an object'],
  ['its schema, by the server’s name of it', 'x/bad', '"inputSchema" must be an object'],
  ['its schema, by its own name', 'bad', '"inputSchema" must be an object'],
  ['its name, which models know in another form', 'mcp__x__a_b', 'it is nested too deeply'],
])('a tool that was dropped for %s is known and not offered, with the reason', async (_, name, fault) => {
  const [configuration] = await configured({ mcpServers: { x: node() } });
  const dropped = [
    { server: 'x', tool: 'bad', fault: '"inputSchema" must be an object' },
    { server: 'x', tool: 'a.b', fault: 'it is nested too deeply' },
    { server: 'y', tool: 'bad', fault: 'of another server' },
  ].slice(0, name === 'bad' ? 2 : 3);
  const told = explainTool(configuration, name, { live: { ...live, dropped }, status: connected });
  expect(told.permission?.reason).not.toContain('was not asked');
  expect(told).toMatchObject({
    status: 'unusable',
    server: 'x',
    offered: { is: false, says: `the server lists the tool, but the definition is invalid: ${fault}` },
    next: [expect.stringContaining("report the invalid tool definition to the server's author")],
  });
  expect(told.answer).toContain(fault);
});

test('reports that the list was not read to its end', async () => {
  const [configuration] = await configured({ mcpServers: { x: node() } });
  const dropped = [{ server: 'x', fault: 'its list of tools has more than 20000 entries' }];
  const told = explainTool(configuration, 'mcp__x__far', { live: { ...live, dropped }, status: connected });
  expect(told).toMatchObject({ status: 'unknown', offered: { is: false } });
  expect(told.offered.says).toBe(
    'the server does not list the tool in the part of the list that was read: its list of tools has more than 20000 entries',
  );
});

test.each([
  ['mcp__x__read', 'mcp__x__read', 'unusable'],
  ['mcp__x__read', 'mcp__x', 'unusable'],
  ['Bash', 'Bash', 'unusable'],
  ['mcp__x__nope', 'mcp__x', 'unknown'],
])('%s with the deny rule %s is not offered to models', async (name, rule, status) => {
  const [configuration] = await configured({ mcpServers: { x: node() }, permissions: { deny: [rule] } });
  const told = explainTool(configuration, name, { live, status: connected });
  expect(told).toMatchObject({ status, offered: { is: false } });
  if (status === 'unknown') return;
  expect(told.offered.says).toBe(`removed by deny rule "${rule}"`);
  expect(told.answer).toContain('settings.json');
});

test('a deny rule for specific arguments does not remove the tool', async () => {
  const [configuration] = await configured({ permissions: { deny: ['Bash(rm *)'] } });
  expect(explainTool(configuration, 'Bash', { live }).offered.is).toBe(true);
});

test('explains why the server of a tool cannot be used, and what to do', async () => {
  const [configuration] = await configured({}, { '.mcp.json': { mcpServers: { x: node() } } });
  const told = explainTool(configuration, 'mcp__x__read');
  expect(told.status).toBe('unusable');
  expect(told.answer).toContain('is not approved yet');
  expect(told.next[0]).toContain('toolplane mcp approve x');
});
