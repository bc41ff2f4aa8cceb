import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readApprovals } from '../../../src/config/approval/approvals.ts';
import { editOptionsFor } from '../../../src/config/write/file-options.ts';
import { readInventory } from '../../../src/config/write/inventory.ts';
import { pathOfScope, removeServer, writeServer } from '../../../src/config/write/write-servers.ts';
import { configPlace } from '../config-place.ts';

const ENTRY = { command: 'npx', args: ['-y', 'x'], env: undefined };
const RAW = { command: 'npx', args: ['-y', 'x'] };
const LOCAL = join('.toolplane', 'settings.local.json');

test('writes to the nearest existing file of a scope, otherwise to that of the repository', () => {
  const { project, home, world, write } = configPlace();
  const cwd = join(project, 'packages', 'one');
  mkdirSync(cwd, { recursive: true });
  const paths = () =>
    (['user', 'project', 'local'] as const).map((scope) => pathOfScope(world({}, cwd), scope));
  expect(paths()).toEqual([join(home, 'settings.json'), join(project, '.mcp.json'), join(project, LOCAL)]);
  const near = write(join(project, 'packages', '.mcp.json'), {});
  const own = write(join(cwd, LOCAL), {});
  expect(paths().slice(1)).toEqual([near, own]);
});

test('without a repository it uses the working directory; the user’s home has no local file', () => {
  const { userHome, world } = configPlace();
  expect(pathOfScope(world({}, userHome), 'project')).toBe(join(userHome, '.mcp.json'));
  expect(() => pathOfScope(world({}, userHome), 'local')).toThrow(`${userHome} cannot be used as a project`);
});

test('writes a user entry to a private file with a version, and does not record it', () => {
  const { home, world } = configPlace();
  const path = join(home, 'settings.json');
  expect(writeServer(world(), 'user', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: true });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, mcpServers: { x: RAW } });
  expect([path, home].map((it) => statSync(it).mode & 0o777)).toEqual([0o600, 0o700]);
  expect(readdirSync(home)).toEqual(['locks', 'settings.json']);
});

test('writes a project entry to a shared file without a version, and approves it (R169, C18)', async () => {
  const { project, home, world, write } = configPlace();
  const path = write(
    join(project, '.mcp.json'),
    '{\n  // the team’s\n  "mcpServers": {\n    "old": { "command": "a" }\n  }\n}\n',
  );
  expect(writeServer(world(), 'project', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: false });
  expect(readFileSync(path, 'utf8')).toBe(
    '{\n  // the team’s\n  "mcpServers": {\n    "old": { "command": "a" },\n    "x": {\n      "command": "npx",\n      "args": [\n        "-y",\n        "x"\n      ]\n    }\n  }\n}\n',
  );
  const { approvals: choices } = readApprovals(home);
  const of = (name: string, raw: unknown) =>
    choices.ofServer({ name, scope: 'project', label: path, path, raw });
  expect([of('x', RAW), of('x', { command: 'other' }), of('old', { command: 'a' })]).toEqual([
    'approved',
    'changed',
    'new',
  ]);
  expect(readInventory(home).files).toMatchObject([
    { path, isCreated: false, servers: { x: expect.any(String) } },
  ]);
});

test('writes a local entry to a private, git-ignored file, and approves it', async () => {
  const { project, home, world } = configPlace();
  const path = join(project, LOCAL);
  expect(writeServer(world(), 'local', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: true });
  const folder = join(project, '.toolplane');
  expect([path, folder, join(folder, '.gitignore')].map((it) => statSync(it).mode & 0o777)).toEqual([
    0o600, 0o755, 0o644,
  ]);
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('settings.local.json\n');
  const { approvals: choices } = readApprovals(home);
  expect(choices.ofServer({ name: 'x', scope: 'local', label: path, path, raw: RAW })).toBe('approved');
  expect(readInventory(home)).toEqual({
    files: [
      {
        path: join(folder, '.gitignore'),
        isCreated: true,
        servers: {},
        lists: {},
        values: {},
        text: expect.any(String),
      },
      { path, isCreated: true, servers: { x: expect.any(String) }, lists: {}, values: {} },
    ],
  });
});

test('keeps an existing .gitignore', () => {
  const { project, home, world, write } = configPlace();
  const path = write(join(project, '.toolplane', '.gitignore'), 'theirs\n');
  writeServer(world(), 'local', 'x', ENTRY);
  expect(readFileSync(path, 'utf8')).toBe('theirs\n');
  expect(readInventory(home).files.map((it) => it.path)).toEqual([join(project, LOCAL)]);
});

test('replaces and reports an existing entry', () => {
  const { world, project } = configPlace();
  writeServer(world(), 'project', 'x', { command: 'a', timeout: 5 });
  expect(writeServer(world(), 'project', 'x', ENTRY)).toMatchObject({ hadOne: true, isNew: false });
  expect(JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8'))).toEqual({ mcpServers: { x: RAW } });
});

test('accepts names such as __proto__', () => {
  const { world, project } = configPlace();
  expect(writeServer(world(), 'project', '__proto__', ENTRY).hadOne).toBe(false);
  expect(writeServer(world(), 'project', '__proto__', ENTRY).hadOne).toBe(true);
  expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toContain('"__proto__": {');
});

test('removes the approval with the entry', async () => {
  const { project, home, world } = configPlace();
  const { path } = writeServer(world(), 'project', 'x', ENTRY);
  expect(removeServer(world(), path, 'y')).toBe(false);
  expect(removeServer(world(), path, 'x')).toBe(true);
  expect(removeServer(world(), path, 'x')).toBe(false);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ mcpServers: {} });
  const { approvals: choices } = readApprovals(home);
  expect(choices.ofServer({ name: 'x', scope: 'project', label: path, path, raw: RAW })).toBe('new');
  expect(readInventory(home).files).toMatchObject([{ path, servers: {} }]);
  expect(removeServer(world(), join(project, 'none', '.mcp.json'), 'x')).toBe(false);
  expect(existsSync(join(project, 'none'))).toBe(false);
});

test('writes nothing through a link that leads out of the project', () => {
  const { project, userHome, world } = configPlace();
  mkdirSync(join(userHome, 'theirs'));
  symlinkSync(join(userHome, 'theirs'), join(project, '.toolplane'));
  expect(() => writeServer(world(), 'local', 'x', ENTRY)).toThrow('is a symbolic link to a path outside of');
  expect(readdirSync(join(userHome, 'theirs'))).toEqual([]);
});

test.each<['local' | 'project', string, string]>([
  ['local', '.toolplane', '.'],
  ['local', '.toolplane/settings.local.json', 'settings.json'],
  ['project', '.mcp.json', 'settings.json'],
  ['project', '.mcp.json', 'secrets.json'],
])('writes nothing for scope %s if %s is a link to %s in the home', (scope, name, target) => {
  const { project, home, world, write } = configPlace();
  const files = ['settings.json', 'secrets.json'].map((it) => write(join(home, it), { version: 1 }));
  const before = files.map((it) => readFileSync(it, 'utf8'));
  mkdirSync(dirname(join(project, name)), { recursive: true });
  symlinkSync(join(home, target), join(project, name));
  const path = join(project, scope === 'local' ? LOCAL : '.mcp.json');
  expect(() => writeServer(world(), scope, 'x', ENTRY)).toThrow(
    `${path} was not changed: a symbolic link in its path points into ${home}, which does not belong to the project; remove the link`,
  );
  expect(files.map((it) => readFileSync(it, 'utf8'))).toEqual(before);
  // No approval and no record of a write was added either.
  expect(readdirSync(home).sort()).toEqual(['secrets.json', 'settings.json']);
});

test('writes nothing through such a link if the home is in the repository', () => {
  const { userHome, home, world, write } = configPlace();
  const settings = write(join(home, 'settings.json'), { version: 1 });
  mkdirSync(join(userHome, '.git'));
  const cwd = join(userHome, 'unpacked');
  mkdirSync(cwd);
  symlinkSync('../.toolplane', join(cwd, '.toolplane'));
  symlinkSync('../.toolplane/settings.json', join(cwd, '.mcp.json'));
  for (const path of [join(cwd, '.toolplane', 'settings.json'), join(cwd, '.mcp.json')])
    expect(() => editOptionsFor(world({}, cwd), path)).toThrow('a symbolic link in its path points into');
  expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({ version: 1 });
});

test('writes to a home or settings file that is a link', () => {
  const { userHome, home, world, write } = configPlace();
  const target = write(join(userHome, 'dotfiles', 'toolplane.json'), {});
  const real = join(userHome, 'elsewhere');
  mkdirSync(real);
  symlinkSync(real, home);
  symlinkSync(target, join(home, 'settings.json'));
  expect(writeServer(world(), 'user', 'x', ENTRY)).toMatchObject({ isNew: false });
  expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ version: 1, mcpServers: { x: RAW } });
  expect(readdirSync(dirname(target))).toEqual(['toolplane.json']);
});

test('a project below the home is an ordinary project', () => {
  const { home, world } = configPlace();
  const cwd = join(home, 'scratch');
  mkdirSync(join(cwd, '.git'), { recursive: true });
  const { path } = writeServer(world({}, cwd), 'project', 'x', ENTRY);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ mcpServers: { x: RAW } });
  expect(readInventory(home).files).toMatchObject([{ path }]);
});

test('ignores locks in a repository', () => {
  const { project, world } = configPlace();
  mkdirSync(join(project, '.mcp.json.lock'));
  const started = performance.now();
  writeServer(world(), 'project', 'x', ENTRY);
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(readdirSync(project).sort()).toEqual(['.git', '.mcp.json', '.mcp.json.lock']);
});

test('a failed write is neither approved nor recorded', () => {
  const { project, home, world, write } = configPlace();
  write(join(project, '.mcp.json'), '{ broken');
  expect(() => writeServer(world(), 'project', 'x', ENTRY)).toThrow('fix the file first');
  expect(readdirSync(home)).toEqual(['locks']);
});

test('does not write an entry that cannot be recorded', () => {
  const { project, home, world, write } = configPlace();
  write(join(home, 'written.json'), '{"version": 2}');
  expect(() => writeServer(world(), 'project', 'x', ENTRY)).toThrow(
    'written.json was not changed: has version 2',
  );
  expect(existsSync(join(project, '.mcp.json'))).toBe(false);
  expect(readInventory(home)).toMatchObject({ files: [], fault: expect.stringContaining('version 2') });
});
