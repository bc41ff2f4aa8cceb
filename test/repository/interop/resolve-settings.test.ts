import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { loadPackage } from '../../../interop/compare.ts';
import type * as toolplane from '../../../src/entry/index.ts';

// resolveSettings() of both packages on the same files.

type Package = typeof toolplane;
type Given = NonNullable<Parameters<Package['resolveSettings']>[0]>;

const root = await realpath(await mkdtemp(join(tmpdir(), 'resolve-settings-')));
const cwd = join(root, 'project');
vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'claude'));
vi.stubEnv('TOOLPLANE_HOME', join(root, 'toolplane'));
const official = (await loadPackage('official')) as unknown as Package;
const ours = (await loadPackage('ours')) as unknown as Package;

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true });
});

const command = (name: string) => [{ hooks: [{ type: 'command', command: name }] }];
const FILES = {
  'claude/settings.json': {
    model: 'opus',
    env: { A: 'user', B: 'user' },
    permissions: { allow: ['Read', 'Glob'], defaultMode: 'acceptEdits', additionalDirectories: ['/a'] },
    hooks: { Stop: command('user') },
    cleanupPeriodDays: 10,
  },
  'project/.claude/settings.json': {
    model: 'sonnet',
    env: { B: 'project' },
    permissions: { allow: ['Bash(ls)', 'Read'], deny: ['WebFetch'], defaultMode: 'bypassPermissions' },
    hooks: { Stop: command('project'), PreToolUse: command('project') },
  },
  'project/.claude/settings.local.json': { permissions: { ask: ['Edit'] }, unknownKey: { a: 1 } },
};

async function write(files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, value] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), typeof value === 'string' ? value : JSON.stringify(value));
  }
}

beforeEach(async () => {
  for (const folder of ['claude', 'toolplane', 'project'])
    await rm(join(root, folder), { recursive: true, force: true });
  await write({ ...FILES, 'project/sub/file': '' });
});

const POLICY = { permissions: { deny: ['A'], allow: ['B'], defaultMode: 'plan' as const }, env: { Z: '1' } };

test.each<[string, Given, Readonly<Record<string, unknown>>]>([
  ['all files', {}, {}],
  ['only the user', { settingSources: ['user'] }, {}],
  ['only the project', { settingSources: ['project'] }, {}],
  ['local and user', { settingSources: ['local', 'user'] }, {}],
  ['no files', { settingSources: [] }, {}],
  ['an unknown source', { settingSources: ['unknown' as 'user'] }, {}],
  ['a directory below', { cwd: join(cwd, 'sub') }, {}],
  ['a directory that does not exist', { cwd: '/nowhere' }, {}],
  ['settings of the program', { settingSources: [], managedSettings: POLICY }, {}],
  ['settings of a server', { serverManagedSettings: POLICY, managedSettings: POLICY }, {}],
  ['no JSON', {}, { 'project/.claude/settings.json': '{ bad' }],
  ['an empty file', {}, { 'project/.claude/settings.json': '' }],
  ['no object', {}, { 'project/.claude/settings.json': '[]' }],
  ['a wrong type', {}, { 'project/.claude/settings.json': { model: 5, env: { A: 'x' } } }],
  ['an invalid rule', {}, { 'project/.claude/settings.json': { permissions: { deny: ['Bash(', 'Read'] } } }],
])('%s: both packages resolve the same', async (_, given, files) => {
  await write(files);
  const options = { cwd, ...given };
  expect(await ours.resolveSettings(options)).toEqual(await official.resolveSettings(options));
});

const MODES = ['default', 'plan', 'dontAsk', 'acceptEdits', 'auto', 'bypassPermissions'];

test.each(['claude/settings.json', 'project/.claude/settings.json', 'project/.claude/settings.local.json'])(
  'filterEscalatingDefaultMode: modes of %s',
  async (file) => {
    await write({ 'project/.claude/settings.json': {} });
    for (const defaultMode of MODES) {
      await write({ [file]: { permissions: { defaultMode, allow: ['Read'] } } });
      const resolved = await official.resolveSettings({ cwd });
      expect(ours.filterEscalatingDefaultMode(resolved)).toEqual(
        official.filterEscalatingDefaultMode(resolved),
      );
    }
  },
);

test("Toolplane's own files take precedence over those of the claude CLI", async () => {
  await write({
    'toolplane/settings.json': { model: 'openai:local', permissions: { deny: ['Bash'] } },
    'project/.toolplane/settings.local.json': { env: { B: 'own' } },
  });
  const { effective, provenance, sources } = await ours.resolveSettings({ cwd });
  expect(effective).toMatchObject({
    model: 'openai:local',
    env: { A: 'user', B: 'own' },
    permissions: { deny: ['WebFetch', 'Bash'] },
  });
  expect(provenance.model).toEqual({ source: 'user', path: join(root, 'toolplane/settings.json') });
  expect(sources.map(({ source }) => source)).toEqual(['user', 'project', 'local', 'user', 'local']);
});
