import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  addressLabel,
  configPathsFor,
  findConfigPaths,
  flagLabel,
  homeLabel,
  pathLabel,
  projectLabel,
  repositoryRoot,
} from '../../../src/config/sources/config-paths.ts';
import { configPlace } from '../config-place.ts';

describe('config paths', () => {
  test.each<[string, readonly string[], string, string | undefined]>([
    ['the directory itself', ['/a/.git'], '/a', '/a'],
    ['the nearest one above', ['/a/.git', '/a/b/.git'], '/a/b/c/d', '/a/b'],
    ['the root of the disk', ['/.git'], '/a/b', '/'],
    ['nothing', [], '/a/b', undefined],
    ['nothing that only begins so', ['/a/.gitignore'], '/a/b', undefined],
  ])('repositoryRoot: %s', (_name, there, cwd, root) => {
    expect(repositoryRoot(cwd, (path) => there.includes(path))).toBe(root);
  });

  const WORLD = {
    home: '/h/.toolplane',
    claudeHome: '/h/.claude',
    claudeManaged: '/etc/claude-code',
    managed: ['/etc/toolplane', '/more'],
  };

  test('C17: searches every directory up to the root of the repository, farthest first', () => {
    const places = configPathsFor({ ...WORLD, cwd: '/r/a/b' }, { root: '/r', realHomes: [] });
    expect(places).toEqual({
      root: '/r',
      within: '/r',
      user: '/h/.toolplane/settings.json',
      project: ['/r/.mcp.json', '/r/a/.mcp.json', '/r/a/b/.mcp.json'],
      shared: ['/r', '/r/a', '/r/a/b'].map((it) => `${it}/.toolplane/settings.json`),
      local: ['/r', '/r/a', '/r/a/b'].map((it) => `${it}/.toolplane/settings.local.json`),
      claude: {
        managed: '/etc/claude-code/managed-settings.json',
        user: '/h/.claude/settings.json',
        shared: ['/r', '/r/a', '/r/a/b'].map((it) => `${it}/.claude/settings.json`),
        local: ['/r', '/r/a', '/r/a/b'].map((it) => `${it}/.claude/settings.local.json`),
      },
      managedServers: ['/etc/toolplane/managed-mcp.json', '/more/managed-mcp.json'],
      managedSettings: ['/etc/toolplane/managed-settings.json', '/more/managed-settings.json'],
    });
  });

  test('without a repository only the working directory is searched', () => {
    expect(configPathsFor({ ...WORLD, cwd: '/a/b' }, { realHomes: [] })).toMatchObject({
      within: '/a/b',
      project: ['/a/b/.mcp.json'],
      local: ['/a/b/.toolplane/settings.local.json'],
    });
  });

  test.each([
    ['/h/.toolplane', '/h/.toolplane'],
    ['/link/.toolplane', '/h/.toolplane'],
  ])('the user’s folder %s is not a project’s', (home, realHome) => {
    const places = configPathsFor({ ...WORLD, home, cwd: '/h' }, { realHomes: [realHome] });
    expect(places.shared).toEqual([]);
    expect(places.local).toEqual([]);
    expect(places.project).toEqual(['/h/.mcp.json']);
  });

  test.each([
    ['/h/.claude', []],
    ['/link/.claude', ['/h/.claude']],
  ])('the user’s folder %s of the claude CLI is not a project’s', (claudeHome, realHomes) => {
    const { claude } = configPathsFor({ ...WORLD, claudeHome, cwd: '/h' }, { realHomes });
    expect(claude).toMatchObject({ user: `${claudeHome}/settings.json`, shared: [], local: [] });
  });

  test('stops at a work tree, whose .git is a file', () => {
    const place = configPlace();
    const tree = join(place.project, 'tree');
    mkdirSync(join(tree, 'deep'), { recursive: true });
    writeFileSync(join(tree, '.git'), 'gitdir: ../.git/worktrees/tree');
    expect(findConfigPaths(place.world({}, join(tree, 'deep')))).toMatchObject({
      root: tree,
      project: [join(tree, '.mcp.json'), join(tree, 'deep', '.mcp.json')],
    });
  });

  test('a link to the user’s own folder is resolved, also before the folder exists', () => {
    const place = configPlace();
    mkdirSync(place.home);
    const link = join(place.managed, 'link');
    symlinkSync(place.userHome, link);
    const world = place.world({ TOOLPLANE_HOME: join(link, '.toolplane') }, place.userHome);
    expect(findConfigPaths(world).local).toEqual([]);
    rmSync(place.home, { recursive: true });
    expect(findConfigPaths(world).local).toEqual([]);
  });
});

describe('labels', () => {
  test.each([
    ['/h/me/.toolplane/settings.json', '~/.toolplane/settings.json'],
    ['/h/me', '/h/me'],
    ['/h/meyer/x', '/h/meyer/x'],
    ['/etc/toolplane/managed-mcp.json', '/etc/toolplane/managed-mcp.json'],
    ['/h/me/..x', '~/..x'],
  ])('shows %s as %s', (path, label) => {
    expect(homeLabel(path, { userHome: '/h/me' })).toBe(label);
  });

  test.each([
    ['/r/a/.mcp.json', '.mcp.json'],
    ['/r/.mcp.json', '../.mcp.json'],
    ['/r/a/.toolplane/settings.local.json', '.toolplane/settings.local.json'],
  ])('shows %s from /r/a as %s', (path, label) => {
    expect(projectLabel(path, { cwd: '/r/a' })).toBe(label);
  });

  test.each([
    ['servers.json', '--mcp-config servers.json'],
    ['../a/b@2.json', '--mcp-config ../a/b@2.json'],
    ['{broken: "s3cret"', 'the file of --mcp-config'],
    ['Bearer abcdef', 'the file of --mcp-config'],
    ['x'.repeat(201), 'the file of --mcp-config'],
    ['ghp_0123456789abcdef', '--mcp-config ghp_[redacted]'],
  ])('labels a flag with value %s as %s', (path, label) => {
    expect(flagLabel('--mcp-config', path)).toBe(label);
  });

  test.each([
    ['https://me:secret@h.example/a/b?key=secret#secret', 'https://h.example/a/b'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
  ])('shows of the URL %s only %s', (url, label) => {
    expect(addressLabel(url)).toBe(label);
  });

  test.each([
    ['/h/me/r/kit/.mcp.json', 'kit/.mcp.json'],
    ['/h/me/r', '~/r'],
    ['/h/me/kit/.mcp.json', '~/kit/.mcp.json'],
    ['/opt/kit/.mcp.json', '/opt/kit/.mcp.json'],
    ['/h/me/r/a\nb/.mcp.json', 'a\\u000ab/.mcp.json'],
  ])('labels any path %j as %s', (path, label) => {
    expect(pathLabel(path, { cwd: '/h/me/r', userHome: '/h/me' })).toBe(label);
  });
});
