import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Configuration, readConfiguration } from '../../../src/config/configuration.ts';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import { configPlace } from '../config-place.ts';

type Said = Record<string, unknown>;

/** The managed settings of the system, of the directory in a variable, and of a flag; each is optional. */
async function configured(
  { system, variable, flag }: { system?: Said; variable?: Said; flag?: Said },
  servers: { user?: Said; system?: Said; variable?: Said } = {},
): Promise<Configuration & { readonly first: string }> {
  const { home, managed, userHome, world, write } = configPlace();
  const first = join(userHome, 'system');
  const all = [
    [first, system, servers.system],
    [managed, variable, servers.variable],
  ] as const;
  for (const [directory, settings, mcpServers] of all) {
    if (settings) write(join(directory, 'managed-settings.json'), settings);
    if (mcpServers) write(join(directory, 'managed-mcp.json'), { mcpServers });
  }
  const mcpServers = servers.user ?? { s: { command: 'run', excludeTools: ['own'] } };
  write(join(home, 'settings.json'), { version: 1, mcpServers });
  const wanted = flag ? { managedSettings: flag } : {};
  const configuration = await readConfiguration({ ...world(), managed: [first, managed] }, wanted);
  return { ...configuration, first };
}

const ofServer = ({ merged }: Configuration) => merged.servers.find(({ name }) => name === 's');
const server = (members: Said) => ({ serverSettings: { s: members } });
const entry = (it: Configuration) => ofServer(it)?.entry as Said | undefined;

describe('a variable or flag cannot revert the system’s managed settings', () => {
  const cases: [string, Said, Said, (it: Configuration) => unknown, unknown][] = [
    [
      'turned off',
      server({ disabled: true }),
      server({ disabled: false }),
      (it) => ofServer(it)?.verdict.kind,
      'disabled',
    ],
    [
      'tools excluded',
      server({ excludeTools: ['delete'] }),
      server({ excludeTools: [] }),
      (it) => entry(it)?.excludeTools,
      ['delete'],
    ],
    [
      'tools included',
      server({ includeTools: ['a'] }),
      server({ includeTools: ['*'] }),
      (it) => entry(it)?.includeTools,
      ['a'],
    ],
    ['not trusted', server({ trust: false }), server({ trust: true }), (it) => entry(it)?.trust, false],
    ['required', server({ required: false }), server({ required: true }), (it) => entry(it)?.required, false],
    ['time of calls', server({ timeout: 5 }), server({ timeout: 9 }), (it) => entry(it)?.timeout, 5],
    [
      'times of tools',
      server({ toolTimeoutsMs: { a: 5 } }),
      server({ toolTimeoutsMs: { a: 9 } }),
      (it) => entry(it)?.toolTimeoutsMs,
      { a: 5 },
    ],
    [
      'mode',
      { permissions: { defaultMode: 'plan' } },
      { permissions: { defaultMode: 'acceptEdits' } },
      ({ settings }) => [settings.defaultMode, settings.permissions.modes.policySettings],
      ['plan', 'plan'],
    ],
    ['environment', { env: { A: 'x' } }, { env: { A: '' } }, ({ settings }) => settings.env.A, 'x'],
    ['model', { model: 'm' }, { model: 'n' }, ({ settings }) => settings.model, 'm'],
    [
      'time-outs',
      { timeouts: { callMs: 5 } },
      { timeouts: { callMs: 9 } },
      ({ settings }) => settings.timeouts.callMs?.value,
      5,
    ],
    [
      'bypassing',
      { permissions: { disableBypassPermissionsMode: 'disable' } },
      { permissions: {} },
      ({ settings }) => settings.forbidsBypass,
      true,
    ],
    [
      'rules',
      { permissions: { deny: ['Bash'], ask: ['Edit'] } },
      { permissions: { allow: ['Bash', 'Edit'], additionalDirectories: ['/'] } },
      ({ settings }) => [
        settings.rules.map(({ effect, tool }) => `${effect} ${tool}`).sort(),
        settings.directories,
      ],
      [['ask Edit', 'deny Bash'], []],
    ],
    [
      'who is denied',
      { deniedMcpServers: [{ serverName: 's' }] },
      { deniedMcpServers: [] },
      (it) => ofServer(it)?.verdict.kind,
      'blocked',
    ],
    [
      'who is allowed',
      { allowedMcpServers: [{ serverName: 't' }] },
      { allowedMcpServers: [{ serverName: 's' }] },
      (it) => ofServer(it)?.verdict.kind,
      'blocked',
    ],
  ];

  test.each(cases)('%s', async (_, system, later, look, expected) => {
    expect(look(await configured({ system }))).toEqual(expected);
    expect(look(await configured({ system, variable: later }))).toEqual(expected);
    expect(look(await configured({ system, flag: later }))).toEqual(expected);
    expect(look(await configured({ system, variable: later, flag: later }))).toEqual(expected);
  });
});

test('a variable takes precedence over a flag', async () => {
  const [one, other] = [
    { model: 'one', ...server({ timeout: 1 }) },
    {
      model: 'other',
      permissions: { allow: ['Read'], additionalDirectories: ['/x'] },
      ...server({ timeout: 2 }),
    },
  ];
  const both = await configured({ variable: one, flag: other });
  expect([both.settings.model, entry(both)?.timeout]).toEqual(['one', 1]);
  const alone = await configured({ flag: other });
  expect([alone.settings.model, entry(alone)?.timeout, alone.settings.directories]).toEqual([
    'other',
    2,
    ['/x'],
  ]);
  expect(alone.settings.rules).toMatchObject([{ tool: 'Read', effect: 'allow' }]);
});

test('added managed settings can set what the system leaves open, and forbid more', async () => {
  const system = {
    model: 'm',
    env: { A: 'x' },
    permissions: { deny: ['Bash'] },
    ...server({ disabled: false, excludeTools: ['delete'], timeout: 5 }),
  };
  const variable = {
    timeouts: { idleMs: 7 },
    env: { B: 'y' },
    permissions: { deny: ['Write'], ask: ['Edit'] },
    ...server({ excludeTools: ['drop'], idleTimeoutMs: 8 }),
  };
  const flag = {
    ...server({ disabled: true, excludeTools: ['drop', 'more'] }),
    deniedMcpServers: [{ serverName: 't' }],
  };
  const it = await configured(
    { system, variable, flag },
    { user: { s: { command: 'run' }, t: { command: 'run' } } },
  );
  expect(it.settings).toMatchObject({
    model: 'm',
    env: { A: 'x', B: 'y' },
    timeouts: { idleMs: { value: 7 } },
  });
  expect(it.settings.rules.map(({ effect, tool }) => `${effect} ${tool}`).sort()).toEqual([
    'ask Edit',
    'deny Bash',
    'deny Write',
  ]);
  expect(entry(it)).toEqual({
    command: 'run',
    excludeTools: expect.arrayContaining(['delete', 'drop', 'more']),
    timeout: 5,
    idleTimeoutMs: 8,
  });
  expect(it.merged.servers.map(({ verdict }) => verdict.kind)).toEqual(['disabled', 'blocked']);
  expect(it.faults).toEqual([]);
});

test('warns that added managed settings cannot allow anything', async () => {
  const flag = { permissions: { allow: ['Read'], deny: ['Bash'], additionalDirectories: ['/x'] } };
  const { faults } = await configured({ system: {}, flag });
  const says =
    'has no effect: ~/system/managed-settings.json takes precedence, and other managed settings can only add restrictions';
  expect(faults.map((it) => `${it.level} ${formatDiagnostic(it)}`)).toEqual([
    `warning --managed-settings: permissions.allow: ${says}`,
    `warning --managed-settings: permissions.additionalDirectories: ${says}`,
  ]);
  expect(faults.some(({ isFatal }) => isFatal)).toBe(false);
});

describe('an entry of the system’s managed-mcp.json', () => {
  const servers = { system: { s: { command: 'run', excludeTools: ['delete'], timeout: 5 } } };
  const lift = server({ excludeTools: ['more'], timeout: 9, idleTimeoutMs: 7 });

  test('can be changed by the settings of the same directory', async () => {
    expect(entry(await configured({ system: lift }, servers))).toEqual({
      command: 'run',
      excludeTools: ['more'],
      timeout: 9,
      idleTimeoutMs: 7,
    });
  });

  test.each(['variable', 'flag'])(
    'cannot be extended by those of a %s, even if the system has none',
    async (which) => {
      expect(entry(await configured({ [which]: lift }, servers))).toEqual({
        command: 'run',
        excludeTools: ['delete', 'more'],
        timeout: 5,
        idleTimeoutMs: 7,
      });
    },
  );

  test('the system’s settings can change an entry in a directory that a variable adds', async () => {
    const lower = { variable: servers.system };
    expect(entry(await configured({ system: lift }, lower))).toMatchObject({
      timeout: 9,
      excludeTools: ['more'],
    });
    expect(entry(await configured({ variable: lift }, lower))).toMatchObject({ timeout: 9 });
    expect(entry(await configured({ flag: lift }, lower))).toMatchObject({
      timeout: 5,
      excludeTools: ['delete', 'more'],
    });
  });
});
