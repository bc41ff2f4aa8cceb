import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveSettings } from '../../../../src/host/config/approve/choice-store.ts';
import { type Configuration, readConfiguration } from '../../../../src/host/config/configuration.ts';
import { explainPermission } from '../../../../src/host/config/explain/explain-permission.ts';
import { explainTimeout, msText } from '../../../../src/host/config/explain/explain-timeout.ts';
import { explainTool } from '../../../../src/host/config/explain/explain-tool.ts';
import { resolveTool } from '../../../../src/host/config/explain/resolve-tool.ts';
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
])('%s is told by its server, not by splitting the name (R142)', async (text, ref) => {
  const [configuration] = await configured({ mcpServers: { a: node(), a__b: node(), 'my server': node() } });
  expect(resolveTool(configuration, text)).toMatchObject(ref);
});

test('a tool that a server lists is found by its own name, or by its alias', async () => {
  const [configuration] = await configured({ mcpServers: { a: node() } });
  const live = [{ name: 'mcp__a__alias', server: 'a', tool: 'a very long name' }];
  expect(resolveTool(configuration, 'a very long name', live)).toMatchObject(live[0] as object);
  expect(resolveTool(configuration, 'mcp__a__alias', live)).toMatchObject(live[0] as object);
});

test('a deny rule is named with its file and line, and the rules it beat are told', async () => {
  const place = configPlace();
  place.write(join(place.managed, 'managed-settings.json'), { permissions: { deny: ['mcp__x__drop'] } });
  place.write(join(place.home, 'settings.json'), {
    mcpServers: { x: node() },
    permissions: { ask: ['mcp__x'] },
  });
  const told = explainPermission(await readConfiguration(place.world()), 'mcp__x__drop');
  expect(told).toMatchObject({ decision: 'deny', standing: 'unusable', mode: { mode: 'default' } });
  expect(told.rules).toMatchObject([
    { effect: 'deny', rule: 'mcp__x__drop', part: 'decides', at: { scope: 'managed', line: 4 } },
    { effect: 'ask', rule: 'mcp__x', part: 'beaten', at: { scope: 'user' } },
  ]);
  expect(told.next).toEqual([
    expect.stringMatching(/^ask those who run this machine: .*managed-settings\.json:4:\d+$/),
  ]);
});

test('rules with a pattern are decided on the arguments of the call', async () => {
  const [configuration] = await configured({ permissions: { allow: ['Bash(git log:*)'] } });
  const facts = { isBuiltIn: true };
  const log = explainPermission(configuration, 'Bash', { ...facts, input: { command: 'git log -1' } });
  const push = explainPermission(configuration, 'Bash', { ...facts, input: { command: 'git push' } });
  expect([log.decision, log.rules[0]?.part]).toEqual(['allow', 'decides']);
  expect([push.decision, push.rules[0]?.part]).toEqual(['ask', 'other arguments']);
});

test('an allow rule in a project’s file counts once somebody approved the file (C18)', async () => {
  const [configuration, place] = await configured(
    { mcpServers: { x: node() } },
    { '.toolplane/settings.json': { permissions: { allow: ['mcp__x'] } } },
  );
  const before = explainPermission(configuration, 'mcp__x__read');
  expect(before).toMatchObject({
    decision: 'ask',
    rules: [{ effect: 'allow', part: 'not approved', at: { scope: 'project' } }],
  });
  expect(before.next.at(-1)).toContain('toolplane mcp approve --settings');
  for (const source of configuration.settingsSources)
    if (source.scope === 'project') approveSettings(place.home, source);
  expect(explainPermission(await readConfiguration(place.world()), 'mcp__x__read').decision).toBe('allow');
});

test('a mode is told with where it stands, and a tool nobody knows is no tool', async () => {
  const [configuration] = await configured({ permissions: { defaultMode: 'plan' } });
  const told = explainPermission(configuration, 'mcp__none__x');
  expect(told).toMatchObject({ standing: 'unknown', decision: 'deny', mode: { mode: 'plan' } });
  expect(told.mode.says).toMatch(/settings\.json:3:\d+$/);
  expect(explainPermission(configuration, 'mcp__none__x', { mode: 'default' }).mode.says).toBe(
    'by --permission-mode',
  );
});

test('each limit is told with what it beat, the nearest first', async () => {
  const [configuration] = await configured({
    mcpServers: { x: node({ timeout: 1000, toolTimeoutsMs: { slow: 9000 }, idleTimeoutMs: 50 }) },
    serverSettings: { x: { timeout: 2000 } },
    timeouts: { callMs: 3000, connectMs: 4000 },
  });
  const { limits, answer } = explainTimeout(configuration, 'x');
  expect(limits.map(({ limit, ms, said }) => [limit, ms, said.map((it) => it.ms)])).toEqual([
    ['connect', 4000, [4000, 30_000]],
    ['call', 2000, [2000, 1000, 3000, 100_000_000]],
    ['idle', 50, [50]],
  ]);
  expect(limits[1]?.said[0]).toMatchObject({
    by: 'serverSettings.x.timeout',
    counts: true,
    at: { scope: 'user' },
  });
  expect(answer).toContain('is ended after 2 s, or after 50 ms of silence');
  expect(explainTimeout(configuration, 'x', 'slow').limits[1]).toMatchObject({ ms: 9000 });
  expect(explainTimeout(configuration, 'mcp__x__slow').limits[1]).toMatchObject({ ms: 9000 });
  expect(explainTimeout(configuration, 'y')).toMatchObject({ standing: 'unknown', limits: [] });
});

test.each([
  [1, '1 ms'],
  [1500, '1.5 s'],
  [60_000, '60 s'],
  [300_000, '5 min'],
  [100_000_000, '27.8 h'],
])('%i ms are %s', (ms, text) => {
  expect(msText(ms)).toBe(text);
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

test('a tool is told with its price, its permission and its limits', async () => {
  const [configuration] = await configured({ mcpServers: { x: node({ trust: true }) } });
  const told = explainTool(configuration, 'mcp__x__read', { live, status: connected });
  expect(told).toMatchObject({
    standing: 'usable',
    server: 'x',
    tool: 'read',
    tokens: 7,
    offered: { is: true },
    deferred: { is: false },
    permission: { decision: 'allow' },
  });
  expect(told.timeouts).toHaveLength(3);
});

test('a tool that is not what was accepted is asked about, whatever allows it', async () => {
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
])('a tool that %s leaves out says where that stands', async (member, entry, settings) => {
  const [configuration] = await configured({ mcpServers: { x: node(entry) }, ...settings });
  const told = explainTool(configuration, 'mcp__x__read', { live, status: connected });
  expect(told).toMatchObject({ standing: 'unusable', offered: { is: false } });
  expect(told.offered.says).toMatch(new RegExp(`^"${member}" at .*settings\\.json:\\d+:\\d+ leaves it out$`));
});

test.each([
  ['mcp__x__nope', 'unknown', 'its server does not list it'],
  ['nope', 'unknown', 'no server of that name is configured'],
  ['Bash', 'usable', 'it is built in'],
])('%s: %s', async (name, standing, says) => {
  const [configuration] = await configured({ mcpServers: { x: node() } });
  expect(explainTool(configuration, name, { live, status: connected })).toMatchObject({
    standing,
    offered: { says },
  });
});

test('a tool of a server that cannot be used says why, and what to do about the server', async () => {
  const [configuration] = await configured({}, { '.mcp.json': { mcpServers: { x: node() } } });
  const told = explainTool(configuration, 'mcp__x__read');
  expect(told.standing).toBe('unusable');
  expect(told.answer).toContain('nobody here has approved it');
  expect(told.next[0]).toContain('toolplane mcp approve x');
});
