import { describe, expect, test } from 'vitest';
import { mergeSettings, type Settings } from '../../../src/config/settings/merge-settings.ts';
import { SETTINGS_SCOPES, type SettingsScope, saying, settingsOf } from './source.ts';

const placeOf = (scope: SettingsScope) => ({ label: `${scope}.json`, path: `/${scope}.json` });

const merge = (...sources: ReturnType<typeof settingsOf>[]) =>
  mergeSettings(sources, saying('approved')).settings;

// Two managed files are merged by other rules.
const pairs = SETTINGS_SCOPES.flatMap((lower, at) =>
  SETTINGS_SCOPES.slice(at).map((higher) => [lower, higher] as const),
).filter(([lower]) => lower !== 'managed');

describe.each(pairs)('%s and %s', (lower, higher) => {
  const both = (one: Record<string, unknown>, other: Record<string, unknown>) =>
    merge(settingsOf(lower, one), settingsOf(higher, other));

  test.each<[string, (mark: string) => Record<string, unknown>, (settings: Settings) => unknown, unknown]>([
    ['model', (mark) => ({ model: mark }), ({ model }) => model, 'B'],
    [
      'mode',
      (mark) => ({ permissions: { defaultMode: mark === 'A' ? 'plan' : 'acceptEdits' } }),
      ({ defaultMode }) => defaultMode,
      'acceptEdits',
    ],
    [
      'environment',
      (mark) => ({ env: { both: mark, [mark]: mark } }),
      ({ env }) => ({ ...env }),
      { both: 'B', A: 'A', B: 'B' },
    ],
    [
      'time-outs',
      (mark) => ({
        timeouts:
          mark === 'A'
            ? { callMs: 1, idleMs: 1, backgroundMs: 1 }
            : { callMs: 2, connectMs: 2, backgroundMs: 0 },
      }),
      ({ timeouts }) => timeouts,
      {
        connectMs: { value: 2, label: `${higher}.json` },
        callMs: { value: 2, label: `${higher}.json` },
        idleMs: { value: 1, label: `${lower}.json` },
        backgroundMs: { value: 0, label: `${higher}.json` },
      },
    ],
    [
      'hooks',
      (mark) => ({ hooks: { Stop: [{ hooks: [{ type: 'command', command: mark }] }] } }),
      ({ hooks }) => hooks.map(({ target }) => target),
      [
        { kind: 'command', command: 'A' },
        { kind: 'command', command: 'B' },
      ],
    ],
    [
      'directories',
      (mark) => ({ permissions: { additionalDirectories: ['/both', `/${mark}`] } }),
      ({ directories }) => directories,
      ['/both', '/A', '/B'],
    ],
    [
      'settings of servers',
      (mark) => ({ serverSettings: { s: { trust: mark === 'B' } } }),
      ({ overrides }) => overrides,
      [
        { name: 's', scope: lower, ...placeOf(lower), members: { trust: false } },
        { name: 's', scope: higher, ...placeOf(higher), members: { trust: true } },
      ],
    ],
    [
      'bypassing',
      (mark) => (mark === 'A' ? { permissions: { disableBypassPermissionsMode: 'disable' } } : {}),
      ({ forbidsBypass }) => forbidsBypass,
      true,
    ],
  ])('%s', (_, make, look, expected) => {
    expect(look(both(make('A'), make('B')))).toEqual(expected);
  });

  test.each(['allow', 'ask', 'deny'] as const)('%s rules: all, each with its place', (effect) => {
    const rules = both(
      { permissions: { [effect]: ['Read'] } },
      { permissions: { [effect]: ['Read'] } },
    ).rules;
    expect(rules).toEqual([
      { tool: 'Read', effect, source: SOURCE[lower] },
      { tool: 'Read', effect, source: SOURCE[higher] },
    ]);
  });
});

const SOURCE: Record<SettingsScope, string> = {
  user: 'userSettings',
  project: 'projectSettings',
  local: 'localSettings',
  program: 'cliArg',
  managed: 'policySettings',
};

test('modes and directories keep their source', () => {
  const { permissions } = merge(
    settingsOf('user', { permissions: { defaultMode: 'plan', additionalDirectories: ['/a'] } }),
    settingsOf('managed', { permissions: { defaultMode: 'default', deny: ['Bash'] } }),
  );
  expect(permissions).toEqual({
    rules: [{ tool: 'Bash', effect: 'deny', source: 'policySettings' }],
    modes: { userSettings: 'plan', policySettings: 'default' },
    directories: [{ path: '/a', source: 'userSettings' }],
  });
});

const EVERYTHING = {
  version: 1,
  model: 'm',
  env: { A: 'b' },
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] },
  timeouts: { callMs: 1 },
  permissions: {
    allow: ['Read'],
    ask: ['Edit'],
    deny: ['Bash'],
    defaultMode: 'acceptEdits',
    additionalDirectories: ['/'],
    disableBypassPermissionsMode: 'disable',
  },
  serverSettings: {
    off: { disabled: true, trust: true },
    on: { disabled: false, trust: true },
    less: { excludeTools: ['x'], includeTools: ['y'] },
  },
  channels: ['news'],
};

describe.each(['project', 'local'] as const)('%s settings', (scope) => {
  test.each(['new', 'changed'] as const)('that are %s only restrict until they are approved', (choice) => {
    const { settings, faults } = mergeSettings([settingsOf(scope, EVERYTHING)], saying(choice));
    const more = { scope, ...placeOf(scope) };
    expect(faults).toEqual([]);
    expect({ ...settings, permissions: undefined, env: { ...settings.env } }).toEqual({
      permissions: undefined,
      rules: [
        { tool: 'Edit', effect: 'ask', source: SOURCE[scope] },
        { tool: 'Bash', effect: 'deny', source: SOURCE[scope] },
      ],
      forbidsBypass: true,
      directories: [],
      hooks: [],
      env: {},
      timeouts: {},
      channels: {},
      overrides: [
        { name: 'off', members: { disabled: true }, ...more },
        { name: 'less', members: { excludeTools: ['x'] }, ...more },
      ],
      pending: [{ label: `${scope}.json`, path: `/${scope}.json`, choice }],
    });
    expect(settings.permissions).toMatchObject({ modes: {}, directories: [] });
  });

  test('rejected settings only restrict, without asking again', () => {
    const { settings } = mergeSettings([settingsOf(scope, EVERYTHING)], saying('rejected'));
    expect([settings.hooks, settings.pending]).toEqual([[], []]);
  });
});

test.each(['user', 'program', 'managed'] as const)('%s settings need no approval', (scope) => {
  const { settings } = mergeSettings([settingsOf(scope, EVERYTHING)], saying('new'));
  expect([settings.model, settings.hooks.length, settings.pending]).toEqual(['m', 1, []]);
});

test('reports problems with positions and keeps the rest', () => {
  const value = {
    model: 1,
    env: { GOOD: 'x', BAD: 2 },
    permissions: { deny: ['Bash', 3, 'WebFetch(x)'], allow: ['*'], defaultMode: 'fast' },
    timeouts: { callMs: '5', idle: 1, backgroundMs: -1 },
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x' }, 1] }] },
    serverSettings: { s: { trust: 1, start: 'on-demand', required: 'no', disable: true }, t: 1 },
  };
  const { settings, faults } = mergeSettings([settingsOf('user', value)], saying('new'));
  expect(faults.map(({ level, key, message }) => `${level} ${key} ${message}`)).toEqual([
    'warning permissions.allow[0] rule "*" would allow tools of any server; write mcp__<server>__*; the rule allows nothing',
    'error permissions.deny[1] must be a string',
    'error permissions.deny[2] rule "WebFetch(x)": rules for web pages name the host; write WebFetch(domain:example.com)',
    'error permissions.defaultMode must be one of default, acceptEdits, bypassPermissions, plan, dontAsk, auto',
    'error hooks.Stop[0].hooks[1] must be { "type": "command", "command": string, "timeout": seconds }',
    'error env.BAD must be a string',
    'error model must be a string',
    'warning timeouts.idle is not a known key; did you mean "timeouts.idleMs"?',
    'error timeouts.callMs must be a number of milliseconds above 0',
    'error timeouts.backgroundMs must be a number of milliseconds, or 0 for never',
    'warning serverSettings.s.disable is not a known key; did you mean "serverSettings.s.disabled"?',
    'error serverSettings.s.trust must be true or false',
    'error serverSettings.s.required must be true or false',
    'error serverSettings.t must be an object',
  ]);
  expect(faults[1]).toEqual({
    level: 'error',
    scope: 'user',
    label: 'user.json',
    key: 'permissions.deny[1]',
    position: { line: 3, column: 1 },
    message: 'must be a string',
  });
  expect(settings.rules).toEqual([{ tool: 'Bash', effect: 'deny', source: 'userSettings' }]);
  expect({ ...settings.env }).toEqual({ GOOD: 'x' });
  expect(settings.hooks).toHaveLength(1);
  expect(settings.overrides).toEqual([
    { name: 's', scope: 'user', ...placeOf('user'), members: { start: 'on-demand' } },
  ]);
});

test.each(SETTINGS_SCOPES)('a guard that cannot be read in %s settings', (scope) => {
  const guards = { permissions: { deny: [1], ask: 'x' }, hooks: { Stopp: [] } };
  const { faults } = mergeSettings([settingsOf(scope, guards)], saying('approved'));
  const isFatal = scope === 'program' || scope === 'managed' ? true : undefined;
  expect(faults.map((it) => it.isFatal)).toEqual([isFatal, isFatal, isFatal]);
});

test.each(SETTINGS_SCOPES)('a sandbox that is wanted in %s settings and not there', (scope) => {
  const { faults } = mergeSettings([settingsOf(scope, { sandbox: { enabled: true } })], saying('approved'));
  expect(faults).toMatchObject([{ level: 'error', key: 'sandbox.enabled' }]);
  expect(faults[0]?.isFatal).toBe(scope === 'project' || scope === 'local' ? undefined : true);
});

test('a warning is never fatal', () => {
  const value = { permision: {}, permissions: { allow: ['*'] } };
  const { faults } = mergeSettings([settingsOf('managed', value)], saying('new'));
  expect(faults.map(({ level, isFatal }) => [level, isFatal])).toEqual([
    ['warning', undefined],
    ['warning', undefined],
  ]);
});

test('warns about unknown keys with a suggestion; keys of other programs are only noted', () => {
  const value = {
    modl: 'x',
    enabledMcpjsonServers: [],
    statusLine: {},
    cleanupPeriodDays: 1,
    constructor: 1,
  };
  const { faults, unused } = mergeSettings([settingsOf('user', value)], saying('new'));
  expect(faults.map(({ key, message }) => `${key} ${message}`)).toEqual([
    'modl is not a known key; did you mean "model"?',
    'constructor is not a known key',
  ]);
  expect(unused.map(({ text }) => text)).toEqual([
    'user.json: "enabledMcpjsonServers" is a setting of the claude CLI that Toolplane does not use',
    'user.json: "statusLine" is a setting of the claude CLI that Toolplane does not use',
    'user.json: "cleanupPeriodDays" is a setting of the claude CLI that Toolplane does not use',
  ]);
});

test.each<[string, readonly SettingsScope[]]>([
  ['mcpServers', ['user', 'local']],
  ['plugins', ['user', 'managed']],
  ['connectors', ['user', 'managed']],
  ['allowedMcpServers', ['managed']],
  ['deniedMcpServers', ['managed']],
])('warns about %s where it has no effect', (key, scopes) => {
  const told = SETTINGS_SCOPES.filter((scope) => {
    const { faults } = mergeSettings([settingsOf(scope, { [key]: [] })], saying('approved'));
    return faults.some((it) => it.level === 'warning' && it.key === key);
  });
  expect(told).toEqual(SETTINGS_SCOPES.filter((scope) => !scopes.includes(scope)));
});
