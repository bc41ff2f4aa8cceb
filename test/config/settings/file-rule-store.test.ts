import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { approveSettings, trustDirectory } from '../../../src/config/approval/approval-store.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { parseJsonc } from '../../../src/config/files/parse-jsonc.ts';
import { fileRuleStore } from '../../../src/config/settings/file-rule-store.ts';
import { readInventory } from '../../../src/config/write/inventory.ts';
import { EMPTY_RULES, modeOf } from '../../../src/permissions/rule-store.ts';
import type { PermissionUpdate, PermissionUpdateDestination } from '../../../src/protocol/permission.ts';
import { configPlace } from '../config-place.ts';

function place(initial = EMPTY_RULES) {
  const made = configPlace();
  const notes: string[] = [];
  const store = fileRuleStore({ context: made.world(), initial, note: (text) => notes.push(text) });
  const local = join(made.project, '.toolplane/settings.local.json');
  return { ...made, store, notes, local };
}

const allow = (
  destination: PermissionUpdateDestination,
  toolName = 'Bash',
  ruleContent = 'ls',
): PermissionUpdate => ({
  type: 'addRules',
  rules: [{ toolName, ruleContent }],
  behavior: 'allow',
  destination,
});
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const settingsNow = async (world: ReturnType<ReturnType<typeof configPlace>['world']>) =>
  (await readConfiguration(world)).settings;

test.each<[PermissionUpdateDestination, string, number]>([
  ['userSettings', 'person/.toolplane/settings.json', 0o600],
  ['projectSettings', 'project/.toolplane/settings.json', 0o644],
  ['localSettings', 'project/.toolplane/settings.local.json', 0o600],
])('saves a rule for %s to %s, applies it and reports it', async (destination, file, mode) => {
  const { store, world, project, notes } = place();
  expect(await store.apply([allow(destination)])).toEqual([]);
  const path = join(project, '..', file);
  expect(json(path)).toEqual({ version: 1, permissions: { allow: ['Bash(ls)'] } });
  expect(statSync(path).mode & 0o777).toBe(mode);
  const rule = { tool: 'Bash', content: 'ls', effect: 'allow', source: destination };
  expect(store.current().rules).toEqual([rule]);
  const { rules, pending } = await settingsNow(world());
  expect({ rules, pending }).toEqual({ rules: [rule], pending: [] });
  const label = file.replace('person', '~').replace('project/', '');
  expect(notes).toEqual([`rule saved to ${label}`]);
  expect(store.keeps?.(destination)).toBe(true);
});

test.each(['session', 'cliArg'] as const)('a rule for %s is in no file', async (destination) => {
  const { store, project, home, notes } = place();
  await store.apply([allow(destination)]);
  expect(store.current().rules).toMatchObject([{ source: destination }]);
  expect(store.keeps?.(destination)).toBe(false);
  expect([existsSync(join(project, '.toolplane')), existsSync(home), notes]).toEqual([false, false, []]);
});

test('the files always contain the active rules, modes and directories', async () => {
  const { store, local, world } = place();
  await store.apply([
    allow('localSettings', 'Bash', 'a'),
    allow('localSettings', 'Bash', 'b'),
    { type: 'setMode', mode: 'acceptEdits', destination: 'localSettings' },
    { type: 'addDirectories', directories: ['/x', '/y'], destination: 'localSettings' },
  ]);
  await store.apply([
    {
      type: 'removeRules',
      rules: [{ toolName: 'Bash', ruleContent: 'a' }],
      behavior: 'allow',
      destination: 'localSettings',
    },
    { type: 'removeDirectories', directories: ['/x'], destination: 'localSettings' },
    {
      type: 'replaceRules',
      rules: [{ toolName: 'Write' }],
      behavior: 'deny',
      destination: 'localSettings',
    },
  ]);
  expect(json(local)).toEqual({
    version: 1,
    permissions: {
      allow: ['Bash(b)'],
      defaultMode: 'acceptEdits',
      additionalDirectories: ['/y'],
      deny: ['Write'],
    },
  });
  const { permissions } = await settingsNow(world());
  expect(store.current()).toEqual(permissions);
  expect(modeOf(store.current())).toBe('acceptEdits');
});

test('an invalid rule is neither applied nor saved', async () => {
  const { store, local } = place();
  const diagnostics = await store.apply([
    { type: 'addRules', rules: [{ toolName: '*' }], behavior: 'allow', destination: 'localSettings' },
  ]);
  expect(diagnostics).toMatchObject([{ code: 'RULE_TOO_WIDE' }]);
  expect([store.current().rules, existsSync(local)]).toEqual([[], false]);
});

test('keeps comments and foreign keys; an existing rule changes nothing', async () => {
  const { store, write, home, notes } = place();
  const text = '{\n  // mine\n  "permissions": { "allow": ["Bash( ls )"] },\n  "theme": "dark"\n}\n';
  const path = write(join(home, 'settings.json'), text);
  await store.apply([allow('userSettings')]);
  expect([readFileSync(path, 'utf8'), notes]).toEqual([text, []]);
  await store.apply([allow('userSettings', 'Read', 'x')]);
  expect(readFileSync(path, 'utf8')).toContain('// mine');
  const now = parseJsonc(readFileSync(path, 'utf8')).value;
  const permissions = { allow: ['Bash( ls )', 'Read(x)'] };
  expect(now).toEqual({ permissions, theme: 'dark', version: 1 });
});

test('an approved file stays approved after a write', async () => {
  const { store, write, world, local, home } = place();
  const value = { permissions: { allow: ['Read'] }, env: { A: 'b' } };
  write(local, value);
  approveSettings(home, { scope: 'local', path: local, value });
  await store.apply([allow('localSettings')]);
  const { env, pending, rules } = await settingsNow(world());
  expect([{ ...env }, pending, rules.length]).toEqual([{ A: 'b' }, [], 2]);
});

test('applies the rule to the session if the file is not approved, and says so', async () => {
  const { store, write, world, local, notes } = place();
  write(local, { hooks: {}, permissions: { allow: ['Write'] } });
  const before = readFileSync(local, 'utf8');
  expect(await store.apply([allow('localSettings')])).toEqual([]);
  expect(readFileSync(local, 'utf8')).toBe(before);
  expect(store.current().rules).toEqual([
    { tool: 'Bash', content: 'ls', effect: 'allow', source: 'session' },
  ]);
  expect(notes).toEqual([
    'saved for this session only: .toolplane/settings.local.json is not approved, so nothing was written to it: to review and approve it, run "toolplane mcp approve"',
  ]);
  expect((await settingsNow(world())).pending).toMatchObject([{ choice: 'new' }]);
});

test('writes restrictions to an unapproved file without approving it', async () => {
  const { store, write, world, local } = place();
  write(local, { permissions: { allow: ['Write'] } });
  const deny = { ...allow('localSettings'), behavior: 'deny' } as PermissionUpdate;
  await store.apply([deny]);
  const { rules, pending } = await settingsNow(world());
  expect(rules).toEqual([{ tool: 'Bash', content: 'ls', effect: 'deny', source: 'localSettings' }]);
  expect(pending).toHaveLength(1);
});

test('approves no content in a trusted repository', async () => {
  const { store, write, world, local, home, project } = place();
  trustDirectory(home, project);
  write(local, { model: 'm' });
  await store.apply([allow('localSettings')]);
  expect((await settingsNow(world())).model).toBe('m');
  expect(json(join(home, 'choices.json'))).toMatchObject({ settings: [] });
});

test.each<[string, (made: ReturnType<typeof place>) => void, RegExp]>([
  [
    'broken',
    ({ write, local }) => write(local, '{ "permissions": '),
    /settings\.local\.json.*was not changed/,
  ],
  ['newer', ({ write, local }) => write(local, { version: 9 }), /version 9/],
  [
    'a link out of the project',
    ({ write, local, userHome }) => {
      mkdirSync(join(local, '..'));
      symlinkSync(write(join(userHome, 'other.json'), {}), local);
    },
    /settings\.local\.json/,
  ],
  [
    'no object where one is needed',
    ({ write, local, home }) => {
      write(local, { permissions: [] });
      approveSettings(home, { scope: 'local', path: local, value: { permissions: [] } });
    },
    /permissions/,
  ],
  [
    'one whose choices cannot be kept',
    ({ write, home }) => chmodSync(write(join(home, 'choices.json'), '{}'), 0o600),
    /choices\.json cannot be used/,
  ],
])('a file that is %s: applies the rule to the session and says why', async (_, make, why) => {
  const made = place();
  make(made);
  const before = existsSync(made.local) ? readFileSync(made.local, 'utf8') : undefined;
  expect(await made.store.apply([allow('localSettings')])).toEqual([]);
  expect(made.store.current().rules).toMatchObject([{ tool: 'Bash', source: 'session' }]);
  expect(made.notes).toEqual([expect.stringMatching(/^saved for this session only: /)]);
  expect(made.notes[0]).toMatch(why);
  expect(made.notes[0]).not.toContain('\n');
  expect(existsSync(made.local) ? readFileSync(made.local, 'utf8') : undefined).toBe(before);
});

test('never saves mode bypassPermissions', async () => {
  const { store, local, notes } = place();
  await store.apply([{ type: 'setMode', mode: 'bypassPermissions', destination: 'localSettings' }]);
  expect([existsSync(local), modeOf(store.current())]).toEqual([false, 'bypassPermissions']);
  expect(notes).toEqual(['saved for this session only: mode bypassPermissions is not written to settings']);
});

test('adds to the nearest file and removes from all files', async () => {
  const { project, write, world, home } = configPlace();
  const value = { permissions: { allow: ['Bash(ls)'] } };
  const [far, near] = ['', 'sub'].map((it) => {
    const path = write(join(project, it, '.toolplane/settings.local.json'), value);
    approveSettings(home, { scope: 'local', path, value });
    return path;
  }) as [string, string];
  const cwd = join(project, 'sub', 'deep');
  mkdirSync(cwd);
  const store = fileRuleStore({ context: world({}, cwd), initial: EMPTY_RULES });
  await store.apply([allow('localSettings', 'Bash', 'pwd')]);
  expect([json(far).permissions.allow, json(near).permissions.allow]).toEqual([
    ['Bash(ls)'],
    ['Bash(ls)', 'Bash(pwd)'],
  ]);
  await store.apply([{ ...allow('localSettings'), type: 'removeRules' } as PermissionUpdate]);
  expect([json(far).permissions.allow, json(near).permissions.allow]).toEqual([[], ['Bash(pwd)']]);
});

test('the user’s home is not a project', async () => {
  const { userHome, world } = configPlace();
  const notes: string[] = [];
  const store = fileRuleStore({
    context: world({}, userHome),
    initial: EMPTY_RULES,
    note: (text) => notes.push(text),
  });
  expect(store.keeps?.('localSettings')).toBe(false);
  await store.apply([allow('localSettings')]);
  expect(notes).toEqual([
    'saved for this session only: the .toolplane directory here contains your user settings, not those of a project; run Toolplane in a project directory to save the rule',
  ]);
  expect(store.current().rules).toMatchObject([{ source: 'session' }]);
});

test('records written rules for uninstall', async () => {
  const { store, local, home } = place();
  await store.apply([allow('localSettings'), allow('localSettings', 'Bash', 'pwd')]);
  await store.apply([{ ...allow('localSettings'), type: 'removeRules' } as PermissionUpdate]);
  const file = readInventory(home).files.find(({ path }) => path === local);
  expect(file).toMatchObject({ isCreated: true, lists: { 'permissions.allow': ['Bash(pwd)'] } });
});

test('records modes with their previous value, and directories', async () => {
  const { store, local, home, project, write } = place();
  const shared = write(join(project, '.toolplane/settings.json'), { permissions: { defaultMode: 'plan' } });
  trustDirectory(home, project);
  for (const destination of ['localSettings', 'projectSettings'] as const)
    await store.apply([
      { type: 'setMode', mode: 'default', destination },
      { type: 'setMode', mode: 'acceptEdits', destination },
      { type: 'addDirectories', directories: ['/x', '/y'], destination },
    ]);
  await store.apply([{ type: 'setMode', mode: 'dontAsk', destination: 'projectSettings' }]);
  const lists = { 'permissions.additionalDirectories': ['/x', '/y'] };
  const others = [join(local, '../.gitignore'), join(project, '.git/toolplane-trust')];
  const files = readInventory(home).files.filter(({ path }) => !others.includes(path));
  const key = 'permissions.defaultMode';
  expect(files).toEqual([
    { path: shared, isCreated: false, servers: {}, lists, values: { [key]: { is: 'dontAsk', was: 'plan' } } },
    { path: local, isCreated: true, servers: {}, lists, values: { [key]: { is: 'acceptEdits' } } },
  ]);
});

test.each(['localSettings', 'projectSettings'] as const)(
  'a link that leads into the person’s own settings takes no rule for %s',
  async (destination) => {
    const { store, home, project, notes, write } = place();
    const path = write(join(home, 'settings.json'), { version: 1 });
    symlinkSync(home, join(project, '.toolplane'));
    await store.apply([allow(destination)]);
    expect(json(path)).toEqual({ version: 1 });
    expect(readdirSync(home)).toEqual(['settings.json']);
    expect(store.current().rules).toMatchObject([{ source: 'session' }]);
    expect(notes).toEqual([
      expect.stringMatching(
        /^saved for this session only: \S*settings(\.local)?\.json was not changed: a symbolic link in its path points into/,
      ),
    ]);
  },
);

test('takes over changed settings and keeps rules of the session and flags', async () => {
  const { store } = place({
    rules: [
      { tool: 'A', effect: 'allow', source: 'cliArg' },
      { tool: 'B', effect: 'allow', source: 'userSettings' },
      { tool: 'C', effect: 'deny', source: 'policySettings' },
    ],
    modes: { cliArg: 'plan', userSettings: 'default' },
    directories: [
      { path: '/a', source: 'cliArg' },
      { path: '/b', source: 'userSettings' },
    ],
  });
  await store.apply([allow('session')]);
  store.renew({
    rules: [{ tool: 'D', effect: 'ask', source: 'localSettings' }],
    modes: { localSettings: 'acceptEdits' },
    directories: [{ path: '/d', source: 'localSettings' }],
    blocksOutside: { reads: true },
  });
  expect(store.current()).toEqual({
    blocksOutside: { reads: true },
    rules: [
      { tool: 'A', effect: 'allow', source: 'cliArg' },
      { tool: 'Bash', content: 'ls', effect: 'allow', source: 'session' },
      { tool: 'D', effect: 'ask', source: 'localSettings' },
    ],
    modes: { cliArg: 'plan', localSettings: 'acceptEdits' },
    directories: [
      { path: '/a', source: 'cliArg' },
      { path: '/d', source: 'localSettings' },
    ],
  });
});

test('concurrent processes lose no rule, and the result is approved', async () => {
  const { project, home, local, world } = place();
  const [who, count] = [['a', 'b', 'c'], 5];
  const fixture = fileURLToPath(new URL('fixtures/allow.ts', import.meta.url));
  const told = await Promise.all(
    who.map(async (name) => {
      const child = spawn(process.execPath, [fixture, project, home, name, String(count)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const chunks: string[] = [];
      child.stdout.on('data', (chunk) => chunks.push(String(chunk)));
      const [code] = await once(child, 'close');
      return { code, lines: new Set(chunks.join('').trim().split('\n')) };
    }),
  );
  const fine = { code: 0, lines: new Set(['rule saved to .toolplane/settings.local.json']) };
  expect(told).toEqual([fine, fine, fine]);
  const all = who.flatMap((name) => Array.from({ length: count }, (_, n) => `Bash(${name} ${n})`));
  expect(new Set(json(local).permissions.allow)).toEqual(new Set(all));
  const { rules, pending } = await settingsNow(world());
  expect([rules.length, pending]).toEqual([all.length, []]);
});
