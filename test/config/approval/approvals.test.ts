import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  approveSettings,
  decideServers,
  forgetApprovals,
  forgetServer,
  rejectSettings,
  trustDirectory,
} from '../../../src/config/approval/approval-store.ts';
import { readApprovals } from '../../../src/config/approval/approvals.ts';
import type { Choice, Scope } from '../../../src/config/model.ts';
import { configPlace } from '../config-place.ts';

const written = (path: string, raw: unknown = { command: 'a' }, scope: Scope = 'project', name = 's') => ({
  path,
  raw,
  scope,
  name,
  label: path,
});

async function choiceOf(home: string, ...of: Parameters<typeof written>): Promise<Choice> {
  const { approvals: choices, fault } = readApprovals(home);
  expect(fault).toBeUndefined();
  return choices.ofServer(written(...of));
}

function place() {
  const it = configPlace();
  return { ...it, file: it.write(join(it.project, '.mcp.json'), {}) };
}

test('a project entry is new, then decided, and changed after an edit (R169, C18)', async () => {
  const { home, file } = place();
  expect(await choiceOf(home, file)).toBe('new');
  decideServers(home, [written(file)], 'approved');
  expect(await choiceOf(home, file)).toBe('approved');
  expect(await choiceOf(home, file, { command: 'a', args: [] })).toBe('changed');
  expect(await choiceOf(home, file, { command: 'a' }, 'project', 'other')).toBe('new');
  expect(await choiceOf(home, `${file}.other`)).toBe('new');
});

test('a rejection is for one content: changed content is asked about again', async () => {
  const { home, file } = place();
  decideServers(home, [written(file)], 'rejected');
  expect(await choiceOf(home, file)).toBe('rejected');
  expect(await choiceOf(home, file, { command: 'b' })).toBe('changed');
  decideServers(home, [written(file)], 'approved');
  expect(await choiceOf(home, file)).toBe('approved');
});

test('switching back to an approved branch does not ask again', async () => {
  const { home, file } = place();
  decideServers(home, [written(file, { command: 'a' })], 'approved');
  decideServers(home, [written(file, { command: 'b' })], 'rejected');
  expect(await choiceOf(home, file, { command: 'a' })).toBe('approved');
  expect(await choiceOf(home, file, { command: 'b' })).toBe('rejected');
  for (let n = 0; n < 20; n++) decideServers(home, [written(file, { command: `${n}` })], 'approved');
  expect(await choiceOf(home, file, { command: 'a' })).toBe('changed');
});

test.each<[Scope, Choice]>([
  ['project', 'new'],
  ['local', 'new'],
  ['user', 'approved'],
  ['program', 'approved'],
  ['plugin', 'approved'],
  ['connector', 'approved'],
  ['managed', 'approved'],
])('an entry of scope %s starts as %s', async (scope, choice) => {
  const { home, file } = place();
  expect(await choiceOf(home, file, { command: 'a' }, scope)).toBe(choice);
});

test('the file is private, has a version and contains only hashes', async () => {
  const { home, file } = place();
  decideServers(home, [written(file, { command: 'a', env: { TOKEN: 'hush' } })], 'approved');
  const path = join(home, 'choices.json');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  const text = readFileSync(path, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ version: 1, servers: [{ path: file, name: 's' }] });
  expect(text).not.toContain('hush');
});

test('resolves links; a moved repository is asked about again', async () => {
  const { home, project, file } = place();
  const link = `${project}-link`;
  symlinkSync(project, link);
  decideServers(home, [written(join(link, '.mcp.json'))], 'approved');
  expect(await choiceOf(home, file)).toBe('approved');
  expect(await choiceOf(home, join(link, '.mcp.json'))).toBe('approved');
  expect(await choiceOf(home, join(project, 'x', '..', '.mcp.json'))).toBe('approved');
  renameSync(project, `${project}-moved`);
  expect(await choiceOf(home, join(`${project}-moved`, '.mcp.json'))).toBe('new');
});

test('names and paths are case-sensitive if the file system is', async () => {
  const { home, project, write } = place();
  const [upper, lower] = [write(join(project, 'A', 'f'), {}), write(join(project, 'a', 'f'), {})];
  decideServers(home, [written(upper)], 'approved');
  const isSame = statSync(upper).ino === statSync(lower).ino;
  expect(await choiceOf(home, lower)).toBe(isSame ? 'approved' : 'new');
  expect(await choiceOf(home, upper, { command: 'a' }, 'project', 'S')).toBe('new');
});

test('approval of settings ignores deny rules', async () => {
  const { home, project, write } = place();
  const path = write(join(project, '.toolplane/settings.json'), {});
  const of = async (value: Record<string, unknown>) =>
    readApprovals(home).approvals.ofSettings({ scope: 'project', path, value });
  expect(await of({ permissions: { deny: ['Bash'] }, version: 1 })).toBe('approved');
  expect(await of({ model: 'm' })).toBe('new');
  approveSettings(home, { scope: 'project', path, value: { model: 'm', permissions: { deny: ['Bash'] } } });
  expect(await of({ permissions: { ask: ['Read'] }, model: 'm', mcpServers: {} })).toBe('approved');
  expect(await of({ model: 'm', env: {} })).toBe('changed');
});

test('a rejection of settings holds in a trusted directory and through a link', async () => {
  const { home, project, write } = place();
  const path = write(join(project, '.toolplane/settings.json'), {});
  const link = join(project, '.toolplane/settings.local.json');
  symlinkSync('settings.json', link);
  const of = async (value: Record<string, unknown>, scope: 'project' | 'local' = 'project') =>
    readApprovals(home).approvals.ofSettings({ scope, path: scope === 'local' ? link : path, value });
  rejectSettings(home, { scope: 'project', path, value: { model: 'm', permissions: { deny: ['Bash'] } } });
  expect(await of({ model: 'm' })).toBe('rejected');
  expect(await of({ model: 'm' }, 'local')).toBe('rejected');
  expect(await of({ model: 'other' })).toBe('new');
  trustDirectory(home, project);
  expect(await of({ model: 'm' })).toBe('rejected');
  expect(await of({ model: 'other' })).toBe('approved');
  approveSettings(home, { scope: 'project', path, value: { model: 'm' } });
  expect(await of({ model: 'm' })).toBe('approved');
  expect(forgetApprovals(home, project)).toBe(2);
});

test('a trusted directory approves all content except rejected entries', async () => {
  const { home, project, file, write } = place();
  decideServers(home, [written(file, { command: 'no' })], 'rejected');
  trustDirectory(home, project);
  trustDirectory(home, project);
  const { approvals: choices } = readApprovals(home);
  expect(choices.isTrusted(project)).toBe(true);
  expect(choices.isTrusted(join(project, 'sub'))).toBe(true);
  expect(choices.isTrusted(`${project}-other`)).toBe(false);
  expect(choices.isTrusted(join(project, '..'))).toBe(false);
  expect(choices.ofServer(written(file))).toBe('approved');
  expect(choices.ofServer(written(file, { command: 'no' }))).toBe('rejected');
  expect(
    choices.ofSettings({
      scope: 'project',
      path: join(project, '.toolplane/settings.json'),
      value: { env: {} },
    }),
  ).toBe('approved');
  const outside = write(join(project, '..', 'elsewhere.json'), {});
  symlinkSync(outside, join(project, 'link.json'));
  expect(choices.ofServer(written(join(project, 'link.json')))).toBe('new');
});

test('an approval for one scope is not valid in another, even through links (C18)', async () => {
  const { home, project, file, write } = place();
  const link = join(project, '.toolplane/settings.local.json');
  mkdirSync(join(project, '.toolplane'));
  symlinkSync('../.mcp.json', link);
  decideServers(home, [written(file)], 'approved');
  decideServers(home, [written(file, { command: 'no' })], 'rejected');
  expect(await choiceOf(home, link, { command: 'a' }, 'local')).toBe('new');
  expect(await choiceOf(home, file)).toBe('approved');
  trustDirectory(home, project);
  expect(await choiceOf(home, link, { command: 'no' }, 'local')).toBe('rejected');
  forgetApprovals(home, project);
  const settings = write(join(project, '.toolplane/settings.json'), {});
  approveSettings(home, { scope: 'project', path: settings, value: { model: 'm' } });
  const { approvals: choices } = readApprovals(home);
  const of = (scope: 'project' | 'local') =>
    choices.ofSettings({ scope, path: settings, value: { model: 'm' } });
  expect([of('project'), of('local')]).toEqual(['approved', 'new']);
});

test.each([
  ['a repository', (it: string) => mkdirSync(join(it, '.git'))],
  [
    'a submodule or work tree',
    (it: string) => {
      mkdirSync(join(it, '../../.git/modules/inner'), { recursive: true });
      writeFileSync(join(it, '.git'), 'gitdir: ../../.git/modules/inner\n');
    },
  ],
])('trust does not include %s inside the trusted one', async (_, init) => {
  const { home, project, write } = place();
  const inner = write(join(project, 'vendor/inner/deep/.mcp.json'), {});
  trustDirectory(home, project);
  expect(await choiceOf(home, inner)).toBe('approved');
  init(join(project, 'vendor/inner'));
  const { approvals: choices } = readApprovals(home);
  const settings = join(project, 'vendor/inner/.toolplane/settings.json');
  expect([
    choices.ofServer(written(inner)),
    choices.ofSettings({ scope: 'project', path: settings, value: { model: 'm' } }),
    choices.isTrusted(join(project, 'vendor/inner')),
    choices.isTrusted(join(project, 'vendor/inner/deep')),
    choices.isTrusted(join(project, 'vendor')),
    choices.isTrusted(project),
  ]).toEqual(['new', 'new', false, false, true, true]);
  trustDirectory(home, join(project, 'vendor/inner'));
  expect(await choiceOf(home, inner)).toBe('approved');
});

describe('trust in a repository is bound to its identity, not to its path', () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, stdio: 'ignore' });
  const trusts = async ({ home, project }: { home: string; project: string }) =>
    readApprovals(home).approvals.isTrusted(project);

  test.each<[string, (project: string, base: string) => void]>([
    [
      'another repository is cloned into its place',
      (project, base) => {
        git(base, 'init', '-q', 'other');
        git(join(base, 'other'), 'commit', '-q', '--allow-empty', '-m', 'x');
        rmSync(project, { recursive: true });
        git(base, 'clone', '-q', 'other', project);
      },
    ],
    [
      'a fork of it takes its place',
      (project, base) => {
        git(project, 'commit', '-q', '--allow-empty', '-m', 'x');
        git(base, 'clone', '-q', project, 'fork');
        rmSync(project, { recursive: true });
        renameSync(join(base, 'fork'), project);
      },
    ],
    [
      'its .git alone is replaced',
      (project) => {
        rmSync(join(project, '.git'), { recursive: true });
        git(project, 'init', '-q');
      },
    ],
    ['its .git is gone', (project) => rmSync(join(project, '.git'), { recursive: true })],
    [
      'another one brings along a token of its own',
      (project) => {
        rmSync(join(project, '.git'), { recursive: true });
        mkdirSync(join(project, '.git'));
        writeFileSync(join(project, '.git/toolplane-trust'), `${'a'.repeat(64)}\n`);
      },
    ],
    [
      'another one leads to a copy of the token by a link',
      (project, base) => {
        renameSync(join(project, '.git'), join(base, 'copy'));
        mkdirSync(join(project, '.git'));
        symlinkSync(join(base, 'copy/toolplane-trust'), join(project, '.git/toolplane-trust'));
      },
    ],
    [
      'another one leads to a copy of its .git by a link',
      (project, base) => {
        renameSync(join(project, '.git'), join(base, 'copy'));
        symlinkSync(join(base, 'copy'), join(project, '.git'));
      },
    ],
    [
      'another one leads to a copy of its .git by a file',
      (project, base) => {
        renameSync(join(project, '.git'), join(base, 'copy'));
        writeFileSync(join(project, '.git'), `gitdir: ${join(base, 'copy')}\n`);
      },
    ],
  ])('trust ends when %s', async (_, replace) => {
    const it = place();
    git(it.project, 'init', '-q');
    trustDirectory(it.home, it.project);
    expect(await trusts(it)).toBe(true);
    replace(it.project, join(it.project, '..'));
    expect(await trusts(it)).toBe(false);
    expect(await choiceOf(it.home, it.file)).toBe('new');
  });

  test('trust survives commits, branches, pull, clean, gc and a move away and back', async () => {
    const it = place();
    const base = join(it.project, '..');
    git(it.project, 'init', '-q');
    git(it.project, 'commit', '-q', '--allow-empty', '-m', '1');
    git(base, 'clone', '-q', it.project, 'upstream');
    trustDirectory(it.home, it.project);
    git(join(base, 'upstream'), 'commit', '-q', '--allow-empty', '-m', '2');
    git(it.project, 'pull', '-q', join(base, 'upstream'));
    git(it.project, 'checkout', '-q', '-b', 'other');
    git(it.project, 'clean', '-qfdx');
    git(it.project, 'gc', '-q');
    renameSync(it.project, join(base, 'moved'));
    renameSync(join(base, 'moved'), it.project);
    expect(await trusts(it)).toBe(true);
  });

  test('replaces a token that came with an archive', () => {
    const it = place();
    const outside = it.write(join(it.project, '../outside'), 'kept');
    symlinkSync(outside, join(it.project, '.git/toolplane-trust'));
    trustDirectory(it.home, it.project);
    expect(readFileSync(outside, 'utf8')).toBe('kept');
    const token = readFileSync(join(it.project, '.git/toolplane-trust'), 'utf8');
    expect(token).toMatch(/^[0-9a-f]{64}\n$/);
    // The token is readable for the user only, since an archive with a copied token would be trusted.
    expect(statSync(join(it.project, '.git/toolplane-trust')).mode & 0o777).toBe(0o600);
    trustDirectory(it.home, it.project);
    expect(readFileSync(join(it.project, '.git/toolplane-trust'), 'utf8')).not.toBe(token);
  });

  test('a path that was trusted without an identity is asked about again; other decisions stay', async () => {
    const it = place();
    decideServers(it.home, [written(it.file)], 'approved');
    const path = join(it.home, 'choices.json');
    const before = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...before, trusted: [it.project] }));
    expect(await trusts(it)).toBe(false);
    expect(await choiceOf(it.home, it.file)).toBe('approved');
  });

  test('a directory that has no git directory cannot be trusted', () => {
    const it = place();
    expect(() => trustDirectory(it.home, join(it.project, '..'))).toThrow(/cannot be trusted as a whole/);
    writeFileSync(join(it.project, '../.git'), 'gitdir: nowhere');
    expect(() => trustDirectory(it.home, join(it.project, '..'))).toThrow(/approve its servers by name/);
  });
});

test('removes decisions by directory or server', async () => {
  const { home, project, file, write } = place();
  const other = write(join(project, '..', 'project-2', '.mcp.json'), {});
  const deep = write(join(project, 'sub', '.mcp.json'), {});
  for (const path of [file, other, deep]) decideServers(home, [written(path)], 'approved');
  approveSettings(home, {
    scope: 'project',
    path: join(project, '.toolplane/settings.json'),
    value: { model: 'm' },
  });
  mkdirSync(join(project, 'sub/.git'));
  trustDirectory(home, join(project, 'sub'));
  forgetServer(home, file, 's');
  expect(await choiceOf(home, file)).toBe('new');
  expect(forgetApprovals(home, project)).toBe(3);
  expect(forgetApprovals(home, project)).toBe(0);
  expect(await choiceOf(home, deep)).toBe('new');
  expect(await choiceOf(home, other)).toBe('approved');
});

test('writes nothing without decisions', async () => {
  const { home, project } = place();
  expect(forgetApprovals(home, project)).toBe(0);
  expect(() => statSync(join(home, 'choices.json'))).toThrow('ENOENT');
});

const VALID = JSON.stringify({ version: 1, servers: [], settings: [], trusted: ['/'] });

test.each<[string, (path: string) => void, RegExp]>([
  ['no JSON', (path) => writeFileSync(path, '{', { mode: 0o600 }), /not valid JSON/],
  ['no version', (path) => writeFileSync(path, '{}', { mode: 0o600 }), /no "version"/],
  [
    'a newer version',
    (path) => writeFileSync(path, '{"version":2}', { mode: 0o600 }),
    /has version 2, but this Toolplane supports only version 1/,
  ],
  [
    'one bad choice',
    (path) =>
      writeFileSync(path, '{"version":1,"servers":[{"path":1}],"settings":[],"trusted":[]}', { mode: 0o600 }),
    /"servers" is not a valid list of decisions/,
  ],
  [
    'settings without a recorded decision',
    (path) =>
      writeFileSync(
        path,
        '{"version":1,"servers":[],"settings":[{"scope":"local","path":"/p","hash":"h"}],"trusted":[]}',
        { mode: 0o600 },
      ),
    /"settings" is not a valid list of decisions/,
  ],
  [
    'choices of an older kind, without scopes',
    (path) =>
      writeFileSync(
        path,
        '{"version":1,"servers":[{"path":"/p","name":"n","hash":"h","choice":"approved"}],"settings":[],"trusted":[]}',
        { mode: 0o600 },
      ),
    /"servers" is not a valid list of decisions; fix the file, or remove it and approve the entries again/,
  ],
  ['loose modes', (path) => writeFileSync(path, VALID, { mode: 0o644 }), /run chmod 600 \//],
  ['a directory', (path) => mkdirSync(path, { mode: 0o700 }), /not a regular file|EISDIR/],
  ['a pipe', (path) => execFileSync('mkfifo', ['-m', '600', path]), /not a regular file/],
])(
  'an approvals file that is %s approves nothing, is reported once and never overwritten',
  async (_, make, why) => {
    const { home, file } = place();
    mkdirSync(home, { recursive: true });
    const path = join(home, 'choices.json');
    make(path);
    const before = statSync(path);
    const { approvals: choices, fault } = readApprovals(home);
    expect(fault).toMatch(why);
    expect(fault).toContain(path);
    expect(fault).not.toContain('\n');
    expect(choices.ofServer(written(file))).toBe('new');
    expect(choices.isTrusted('/')).toBe(false);
    const write = () => decideServers(home, [written(file)], 'approved');
    expect(write).toThrow(expect.objectContaining({ name: 'HostError', code: 'bad-config', message: fault }));
    expect(statSync(path)).toMatchObject({ ino: before.ino, size: before.size, mode: before.mode });
  },
);

test('reports a read-only home with its path', () => {
  const { home, file, write } = place();
  write(home, 'a file in its place');
  expect(() => decideServers(home, [written(file)], 'approved')).toThrow(
    `${join(home, 'choices.json')} cannot be`,
  );
});

test('an entry without a file cannot be approved', () => {
  const { home } = place();
  expect(() => decideServers(home, [{ scope: 'project', name: 's', raw: {} }], 'approved')).toThrow(
    /cannot be approved/,
  );
});

test('decides 500 entries quickly', async () => {
  const { home, file } = place();
  const all = Array.from({ length: 500 }, (_, n) => written(file, { command: `${n}` }, 'project', `s${n}`));
  decideServers(home, all, 'approved');
  const { approvals: choices } = readApprovals(home);
  expect(new Set(all.map((it) => choices.ofServer(it)))).toEqual(new Set(['approved']));
});

test('a file that becomes readable by others approves nothing', async () => {
  const { home, file } = place();
  decideServers(home, [written(file)], 'approved');
  chmodSync(join(home, 'choices.json'), 0o666);
  expect(readApprovals(home).approvals.ofServer(written(file))).toBe('new');
});
