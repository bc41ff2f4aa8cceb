import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readChoices } from '../../../../src/host/config/approve/choices.ts';
import { readInventory } from '../../../../src/host/config/write/inventory.ts';
import { pathOfScope, removeServer, writeServer } from '../../../../src/host/config/write/write-servers.ts';
import { configPlace } from '../config-place.ts';

const ENTRY = { command: 'npx', args: ['-y', 'x'], env: undefined };
const RAW = { command: 'npx', args: ['-y', 'x'] };
const LOCAL = join('.toolplane', 'settings.local.json');

test('a scope is written to the nearest file there is, else to that of the repository', () => {
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

test('without a repository it is the directory itself; in the person’s own there is no local file', () => {
  const { userHome, world } = configPlace();
  expect(pathOfScope(world({}, userHome), 'project')).toBe(join(userHome, '.mcp.json'));
  expect(() => pathOfScope(world({}, userHome), 'local')).toThrow(`${userHome} is no project`);
});

test('an entry for the person is written for them only, with a version, and is in no inventory', () => {
  const { home, world } = configPlace();
  const path = join(home, 'settings.json');
  expect(writeServer(world(), 'user', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: true });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, mcpServers: { x: RAW } });
  expect([path, home].map((it) => statSync(it).mode & 0o777)).toEqual([0o600, 0o700]);
  expect(readdirSync(home)).toEqual(['settings.json']);
});

test('an entry for the project goes to a file that all may read, without a version, and is approved (R169, C18)', async () => {
  const { project, home, world, write } = configPlace();
  const path = write(
    join(project, '.mcp.json'),
    '{\n  // the team’s\n  "mcpServers": {\n    "old": { "command": "a" }\n  }\n}\n',
  );
  expect(writeServer(world(), 'project', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: false });
  expect(readFileSync(path, 'utf8')).toBe(
    '{\n  // the team’s\n  "mcpServers": {\n    "old": { "command": "a" },\n    "x": {\n      "command": "npx",\n      "args": [\n        "-y",\n        "x"\n      ]\n    }\n  }\n}\n',
  );
  const { choices } = await readChoices(home);
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

test('a local entry is the person’s own, kept out of the repository, and approved', async () => {
  const { project, home, world } = configPlace();
  const path = join(project, LOCAL);
  expect(writeServer(world(), 'local', 'x', ENTRY)).toEqual({ path, hadOne: false, isNew: true });
  const folder = join(project, '.toolplane');
  expect([path, folder, join(folder, '.gitignore')].map((it) => statSync(it).mode & 0o777)).toEqual([
    0o600, 0o755, 0o644,
  ]);
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('settings.local.json\n');
  const { choices } = await readChoices(home);
  expect(choices.ofServer({ name: 'x', scope: 'local', label: path, path, raw: RAW })).toBe('approved');
  expect(readInventory(home)).toEqual({
    files: [
      { path: join(folder, '.gitignore'), isCreated: true, servers: {}, lists: {}, text: expect.any(String) },
      { path, isCreated: true, servers: { x: expect.any(String) }, lists: {} },
    ],
  });
});

test('a .gitignore that is there is left as it is', () => {
  const { project, home, world, write } = configPlace();
  const path = write(join(project, '.toolplane', '.gitignore'), 'theirs\n');
  writeServer(world(), 'local', 'x', ENTRY);
  expect(readFileSync(path, 'utf8')).toBe('theirs\n');
  expect(readInventory(home).files.map((it) => it.path)).toEqual([join(project, LOCAL)]);
});

test('an entry of the name is replaced, and that is told', () => {
  const { world, project } = configPlace();
  writeServer(world(), 'project', 'x', { command: 'a', timeout: 5 });
  expect(writeServer(world(), 'project', 'x', ENTRY)).toMatchObject({ hadOne: true, isNew: false });
  expect(JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8'))).toEqual({ mcpServers: { x: RAW } });
});

test('names such as __proto__ are names', () => {
  const { world, project } = configPlace();
  expect(writeServer(world(), 'project', '__proto__', ENTRY).hadOne).toBe(false);
  expect(writeServer(world(), 'project', '__proto__', ENTRY).hadOne).toBe(true);
  expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toContain('"__proto__": {');
});

test('an entry that is removed takes along what was decided about it', async () => {
  const { project, home, world } = configPlace();
  const { path } = writeServer(world(), 'project', 'x', ENTRY);
  expect(removeServer(world(), path, 'y')).toBe(false);
  expect(removeServer(world(), path, 'x')).toBe(true);
  expect(removeServer(world(), path, 'x')).toBe(false);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ mcpServers: {} });
  const { choices } = await readChoices(home);
  expect(choices.ofServer({ name: 'x', scope: 'project', label: path, path, raw: RAW })).toBe('new');
  expect(readInventory(home).files).toMatchObject([{ path, servers: {} }]);
  expect(removeServer(world(), join(project, 'none', '.mcp.json'), 'x')).toBe(false);
  expect(existsSync(join(project, 'none'))).toBe(false);
});

test('nothing is written through a link that leads out of the project', () => {
  const { project, userHome, world } = configPlace();
  mkdirSync(join(userHome, 'theirs'));
  symlinkSync(join(userHome, 'theirs'), join(project, '.toolplane'));
  expect(() => writeServer(world(), 'local', 'x', ENTRY)).toThrow('leads out of');
  expect(readdirSync(join(userHome, 'theirs'))).toEqual([]);
});

test('what cannot be remembered is not written', () => {
  const { project, home, world, write } = configPlace();
  write(join(home, 'written.json'), '{"version": 2}');
  expect(() => writeServer(world(), 'project', 'x', ENTRY)).toThrow(
    'written.json was not changed: it is of version 2',
  );
  expect(existsSync(join(project, '.mcp.json'))).toBe(false);
  expect(readInventory(home)).toMatchObject({ files: [], fault: expect.stringContaining('version 2') });
});
