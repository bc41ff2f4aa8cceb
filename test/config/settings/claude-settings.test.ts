import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { approveSettings } from '../../../src/config/approval/approval-store.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { explainPermission } from '../../../src/config/explain/explain-permission.ts';
import { explainServer } from '../../../src/config/explain/explain-server.ts';
import { fatalMessages, startupMessages } from '../../../src/config/explain/startup-messages.ts';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import { claudeSettings } from '../../../src/config/sources/claude-settings.ts';
import type { ConfigFlags } from '../../../src/config/sources/source-types.ts';
import { ConfigWatcher } from '../../../src/config/watch/config-watcher.ts';
import { ruleText } from '../../../src/permissions/rule.ts';
import { configPlace } from '../config-place.ts';

/** A project with settings files of the claude CLI, by scope. */
function place() {
  const made = configPlace();
  const files = {
    user: join(made.userHome, '.claude', 'settings.json'),
    project: join(made.project, '.claude', 'settings.json'),
    local: join(made.project, '.claude', 'settings.local.json'),
  };
  const read = (flags: ConfigFlags = {}, env = {}) => readConfiguration(made.world(env), flags);
  return {
    ...made,
    files,
    read,
    async approve(scope: 'project' | 'local') {
      const { settingsSources } = await read();
      const source = settingsSources.find(({ path }) => path === files[scope]);
      if (source) approveSettings(made.home, source);
    },
  };
}

const EVERYTHING = {
  permissions: { allow: ['Bash(ls *)'], ask: ['Read(x)'], deny: ['Bash(rm *)'], defaultMode: 'plan' },
  hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'guard' }] }] },
  env: { NAME: 'value' },
  model: 'opus',
};

const rulesOf = ({ settings }: Awaited<ReturnType<typeof readConfiguration>>) =>
  settings.rules.map((rule) => `${rule.effect} ${ruleText(rule)} of ${rule.source}`).toSorted();

describe('approval', () => {
  test.each(['project', 'local'] as const)(
    'of the %s file only restrictions count at once',
    async (scope) => {
      const { write, files, read, approve } = place();
      write(files[scope], EVERYTHING);
      const before = await read();
      const source = `${scope}Settings`;
      expect(rulesOf(before)).toEqual([`ask Read(x) of ${source}`, `deny Bash(rm *) of ${source}`]);
      expect(before.settings).toMatchObject({ hooks: [], env: {}, permissions: { modes: {} } });
      expect(before.settings.claudeModel).toBeUndefined();
      expect(startupMessages(before)).toEqual([
        expect.stringMatching(
          /^\.claude\/settings\S*json is not approved, so only its restrictions are active/,
        ),
      ]);
      await approve(scope);
      const { settings, faults } = await read();
      expect(faults).toEqual([]);
      expect(settings).toMatchObject({
        pending: [],
        env: { NAME: 'value' },
        claudeModel: 'opus',
        defaultMode: 'plan',
        hooks: [{ event: 'PreToolUse', target: { kind: 'command', command: 'guard' } }],
      });
      expect(settings.rules).toHaveLength(3);
    },
  );

  test('the file of the user needs none', async () => {
    const { write, files, read } = place();
    write(files.user, EVERYTHING);
    const { settings } = await read();
    expect(settings).toMatchObject({ pending: [], env: { NAME: 'value' }, defaultMode: 'plan' });
    expect([settings.rules.length, settings.hooks.length]).toEqual([3, 1]);
  });

  test('depends only on the keys that are used', async () => {
    const { write, files, read, approve } = place();
    const unused = {
      statusLine: { type: 'command', command: 'x' },
      hooks: {},
      env: {},
      permissions: { allow: [] },
    };
    write(files.project, unused);
    expect((await read()).settings.pending).toEqual([]);
    write(files.project, { ...EVERYTHING, statusLine: 1 });
    await approve('project');
    write(files.project, { ...EVERYTHING, statusLine: 2, outputStyle: 'x' });
    expect((await read()).settings.pending).toEqual([]);
    write(files.project, { ...EVERYTHING, env: { NAME: 'other' } });
    expect((await read()).settings.pending).toMatchObject([
      { label: '.claude/settings.json', choice: 'changed' },
    ]);
  });
});

describe('sources', () => {
  test.each<[readonly string[] | undefined, readonly string[]]>([
    [undefined, ['~/.claude/settings.json', '.claude/settings.json', '.claude/settings.local.json']],
    [[], []],
    [['user'], ['~/.claude/settings.json']],
    [
      ['local', 'project'],
      ['.claude/settings.json', '.claude/settings.local.json'],
    ],
  ])('settingSources %j reads %j', async (scopes, labels) => {
    const { write, files, read } = place();
    for (const path of Object.values(files)) write(path, { model: 'x' });
    const { settingsSources } = await read(scopes && { scopes });
    expect(settingsSources.map(({ label }) => label)).toEqual(labels);
  });

  test('CLAUDE_CONFIG_DIR replaces ~/.claude', async () => {
    const { write, files, read, userHome } = place();
    write(files.user, { model: 'not read' });
    write(join(userHome, 'cc', 'settings.json'), { model: 'opus' });
    const { settings } = await read({}, { CLAUDE_CONFIG_DIR: join(userHome, 'cc') });
    expect(settings.claudeModel).toBe('opus');
  });

  test('every file of Toolplane takes precedence over every file of the claude CLI, key by key', async () => {
    const { write, files, read, home, approve } = place();
    write(join(home, 'settings.json'), { permissions: { defaultMode: 'acceptEdits' }, env: { A: 'ours' } });
    write(files.local, {
      permissions: { defaultMode: 'plan' },
      env: { A: 'theirs', B: 'theirs' },
      model: 'opus',
    });
    await approve('local');
    const { settings } = await read();
    expect(settings).toMatchObject({
      env: { A: 'ours', B: 'theirs' },
      defaultMode: 'acceptEdits',
      claudeModel: 'opus',
      permissions: { modes: { userSettings: 'acceptEdits' } },
    });
    expect(settings.permissions.modes.localSettings).toBeUndefined();
  });

  test('a malformed file is one error with file and line; other files are unaffected', async () => {
    const { write, files, read } = place();
    write(files.project, '{\n  "permissions": {\n    "deny": ["Bash"],,\n  }\n}');
    write(files.local, { permissions: { deny: ['Bash(rm *)'] } });
    const configuration = await read();
    expect(configuration.faults.map(formatDiagnostic)).toEqual([
      expect.stringMatching(/^\.claude\/settings\.json:3:\d+: /),
    ]);
    expect(rulesOf(configuration)).toEqual(['deny Bash(rm *) of localSettings']);
  });

  test('an invalid value does not affect the rules beside it', async () => {
    const { write, files, read } = place();
    write(files.project, { model: 7, permissions: { deny: ['Bash(rm *)', 'Bash('] } });
    const configuration = await read();
    expect(configuration.faults.map(({ key }) => key)).toEqual(['permissions.deny[1]', 'model']);
    expect(rulesOf(configuration)).toEqual(['deny Bash(rm *) of projectSettings']);
  });

  test('changes apply while a session runs', async () => {
    const { write, files, read } = place();
    write(files.project, { statusLine: 1 });
    const applied: string[][] = [];
    using watcher = new ConfigWatcher(await read(), {
      apply: (now) => void applied.push(rulesOf(now)),
      note: () => {},
    });
    write(files.project, { permissions: { deny: ['Bash(rm *)'] } });
    await expect
      .poll(() => applied.at(-1), { timeout: 10_000 })
      .toEqual(['deny Bash(rm *) of projectSettings']);
    write(files.local, { permissions: { deny: ['Read'] } });
    await expect.poll(() => applied.at(-1)?.length, { timeout: 10_000 }).toBe(2);
    expect(watcher.current.settings.rules).toHaveLength(2);
  });
});

describe('keys', () => {
  test('keys without a meaning are reported in one line per file, and are not errors', async () => {
    const { write, files, read } = place();
    write(files.user, {
      $schema: 'x',
      statusLine: {},
      mcpServers: { a: {} },
      plugins: ['x'],
      permissions: { defaultMode: 'bypassPermissions', somethingNew: true },
    });
    const configuration = await read();
    expect(configuration.faults).toEqual([]);
    expect(startupMessages(configuration)).toEqual([
      '~/.claude/settings.json: Toolplane does not use statusLine, mcpServers, plugins, permissions.defaultMode "bypassPermissions", permissions.somethingNew',
    ]);
    expect(configuration.merged.servers).toEqual([]);
  });

  test('rules and events of tools that only the claude CLI has are accepted', async () => {
    const { write, files, read } = place();
    write(files.user, {
      permissions: {
        deny: ['LSP(x)', 'Skill(deploy)', 'Agent(Explore)', 'Workflow', 'RemoteTrigger(x)'],
        allow: ['Agent'],
      },
      hooks: { SomethingNew: [{ hooks: [{ type: 'command', command: 'x' }] }] },
    });
    const configuration = await read();
    expect(rulesOf(configuration)).toEqual([
      'allow Agent of userSettings',
      'deny Agent(Explore) of userSettings',
      'deny Skill(deploy) of userSettings',
    ]);
    expect(configuration.faults).toMatchObject([{ level: 'warning', key: 'hooks.SomethingNew' }]);
  });

  test('a rule whose tool may be misspelled is reported', async () => {
    const { write, files, read } = place();
    write(files.user, { permissions: { deny: ['Bsh(rm *)'] } });
    expect((await read()).faults).toMatchObject([{ level: 'error', key: 'permissions.deny[0]' }]);
  });

  test('"disableAllHooks" disables the hooks of these files only', async () => {
    const { write, files, read, home } = place();
    write(files.user, { ...EVERYTHING, disableAllHooks: true });
    write(join(home, 'settings.json'), {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'ours' }] }] },
    });
    const { settings } = await read();
    expect(settings.hooks).toMatchObject([{ target: { command: 'ours' } }]);
  });

  test('a project cannot disable the hooks of the user before it is approved', async () => {
    const { write, files, read, approve } = place();
    write(files.user, EVERYTHING);
    write(files.project, { disableAllHooks: true });
    expect((await read()).settings.hooks).toHaveLength(1);
    await approve('project');
    expect((await read()).settings.hooks).toEqual([]);
  });

  test('a sandbox that the user requests prevents a start, unless the own settings waive it', async () => {
    const { write, files, read, home } = place();
    write(files.user, { sandbox: { enabled: true } });
    expect((await read()).faults).toMatchObject([{ key: 'sandbox.enabled', level: 'error', isFatal: true }]);
    write(join(home, 'settings.json'), { sandbox: { enabled: false } });
    expect((await read()).faults).toEqual([]);
  });

  test('restrictions of a project apply at once, except denyInsteadOfPrompting', async () => {
    const { write, files, read } = place();
    const permissions = {
      blockReadsOutsideWorkingDirectories: true,
      blockWritesOutsideWorkingDirectories: true,
      denyInsteadOfPrompting: true,
    };
    write(files.project, { permissions });
    const ofProject = await read();
    expect(ofProject.settings.permissions.blocksOutside).toEqual({ reads: true, writes: true });
    expect([ofProject.settings.pending, ofProject.settings.deniesPrompts]).toEqual([[], undefined]);
    expect(ofProject.faults).toMatchObject([{ level: 'warning', key: 'permissions.denyInsteadOfPrompting' }]);
    const facts = { isBuiltIn: true, input: { file_path: '/etc/x' } };
    expect(explainPermission(ofProject, 'Read', facts)).toMatchObject({
      decision: 'deny',
      reason: '/etc/x is outside the workspace, and permissions.blockReadsOutsideWorkingDirectories is set',
    });
    write(files.user, { permissions });
    expect((await read()).settings.deniesPrompts).toBe(true);
  });

  test.each([
    ['manual', 'default'],
    ['acceptEdits', 'acceptEdits'],
  ])('mode %s is %s', (defaultMode, expected) => {
    expect(claudeSettings({ permissions: { defaultMode } }, 'user')).toEqual({
      value: { permissions: { defaultMode: expected } },
      unused: [],
    });
  });
});

describe('servers of .mcp.json', () => {
  const SERVERS = { mcpServers: { docs: { command: 'docs' } } };
  const stateOf = ({ merged }: Awaited<ReturnType<typeof readConfiguration>>) =>
    merged.servers.map(({ name, verdict, written }) => `${written.scope} ${name} ${verdict.kind}`);

  test.each(['user', 'project', 'local'] as const)(
    'disabledMcpjsonServers of the %s file disables them without approval',
    async (scope) => {
      const { write, files, read, project } = place();
      write(join(project, '.mcp.json'), SERVERS);
      expect(stateOf(await read())).toEqual(['project docs pending']);
      write(files[scope], { disabledMcpjsonServers: ['docs', 'unknown'] });
      const configuration = await read();
      expect(stateOf(configuration)).toEqual(['project docs disabled']);
      expect([configuration.faults, configuration.settings.pending]).toEqual([[], []]);
      expect(explainServer(configuration, 'docs').next.join()).toMatch(
        /^remove "docs" from disabledMcpjsonServers in \S*\.claude\/settings\S*json:2:3/,
      );
    },
  );

  test('servers of other files are unaffected, and the own settings take precedence', async () => {
    const { write, files, read, project, home } = place();
    write(files.user, { disabledMcpjsonServers: ['docs'] });
    write(join(home, 'settings.json'), SERVERS);
    expect(stateOf(await read())).toEqual(['user docs ready']);
    write(join(home, 'settings.json'), { serverSettings: { docs: { disabled: false } } });
    write(join(project, '.mcp.json'), SERVERS);
    expect(stateOf(await read())).toEqual(['project docs pending']);
  });

  test('a file cannot approve servers', async () => {
    const { write, files, read, project } = place();
    write(join(project, '.mcp.json'), SERVERS);
    write(files.user, { enabledMcpjsonServers: ['docs'], enableAllProjectMcpServers: true });
    const configuration = await read();
    expect(stateOf(configuration)).toEqual(['project docs pending']);
    expect(startupMessages(configuration).join('\n')).toContain(
      'Toolplane does not use enabledMcpjsonServers, enableAllProjectMcpServers',
    );
  });
});

describe('settings of the administrator for the claude CLI', () => {
  function managed(content: unknown) {
    const { write, world, managed: directory } = place();
    const claudeManaged = join(directory, 'claude');
    write(join(claudeManaged, 'managed-settings.json'), content);
    return readConfiguration({ ...world(), claudeManaged }, { scopes: [] });
  }

  test('only restrictions apply', async () => {
    const configuration = await managed({
      permissions: { ...EVERYTHING.permissions, disableBypassPermissionsMode: 'disable' },
      deniedMcpServers: [{ serverName: 'docs' }],
      hooks: EVERYTHING.hooks,
      env: { NAME: 'value' },
    });
    expect(rulesOf(configuration)).toEqual([
      'ask Read(x) of policySettings',
      'deny Bash(rm *) of policySettings',
    ]);
    expect(configuration.settings).toMatchObject({ forbidsBypass: true, hooks: [], env: {} });
    expect(configuration.settings.permissions.modes).toEqual({});
    expect(configuration.policy.forbids('docs', { command: 'x' })).toMatch(/deniedMcpServers/);
    expect(configuration.faults).toEqual([]);
    expect(startupMessages(configuration)).toEqual([
      expect.stringMatching(/does not use hooks, env, permissions\.allow, permissions\.defaultMode$/),
    ]);
  });

  test('a file that cannot be read prevents a start', async () => {
    expect(fatalMessages(await managed('{'))).toEqual([
      expect.stringMatching(/managed-settings\.json:1:2: /),
    ]);
  });
});

test('explain names both files of a rule that both have', async () => {
  const { write, files, read, home } = place();
  write(files.user, { permissions: { deny: ['Bash'] } });
  write(join(home, 'settings.json'), { permissions: { deny: ['Bash'] } });
  write(files.project, { permissions: { allow: ['Bash'] } });
  const { rules, decision } = explainPermission(await read(), 'Bash', { isBuiltIn: true });
  expect(decision).toBe('deny');
  expect(rules.map(({ part, at }) => `${part}: ${at?.label}:${at?.line}`)).toEqual([
    'decides: ~/.claude/settings.json:4',
    'overridden: ~/.toolplane/settings.json:4',
    'not approved: .claude/settings.json:4',
  ]);
});
