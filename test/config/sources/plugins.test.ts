import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/config/files/read-document.ts';
import { pluginDirectories, readPlugin, withPluginRoot } from '../../../src/config/sources/plugins.ts';
import { configPlace } from '../config-place.ts';

describe('read plugin', () => {
  function plugin(files: Record<string, unknown>) {
    const place = configPlace();
    const directory = join(place.project, 'kit');
    for (const [path, content] of Object.entries(files)) place.write(join(directory, path), content);
    return { directory, read: () => readPlugin(directory, (path) => path) };
  }

  /** The names of the servers in each source. */
  const names = (it: Awaited<ReturnType<typeof readPlugin>>) =>
    it.sources.map(({ servers }) => servers.map(({ name }) => name));

  test('C5: the .mcp.json of a plugin may be a bare map; substitutes its directory', async () => {
    const { directory, read } = plugin({ '.mcp.json': { db: { command: '${CLAUDE_PLUGIN_ROOT}/db' } } });
    const { sources } = await read();
    expect(sources).toMatchObject([
      {
        scope: 'plugin',
        owner: 'kit',
        path: join(directory, '.mcp.json'),
        state: 'read',
        faults: [],
        servers: [
          {
            name: 'db',
            owner: 'kit',
            raw: { command: '${CLAUDE_PLUGIN_ROOT}/db' },
            entry: { command: join(directory, 'db') },
          },
        ],
      },
    ]);
  });

  test.each(['.claude-plugin/plugin.json', 'plugin.json'])(
    '%s has the name and more servers',
    async (file) => {
      const { read } = plugin({
        '.mcp.json': { mcpServers: { a: { command: 'x' } } },
        [file]: { name: 'tools', mcpServers: { b: { command: 'y' } } },
      });
      const found = await read();
      expect(names(found)).toEqual([['a'], ['b']]);
      expect(found.sources.map(({ owner }) => owner)).toEqual(['tools', 'tools']);
    },
  );

  test('plugin.json may name a file of the plugin', async () => {
    const { directory, read } = plugin({
      'plugin.json': { name: 5, mcpServers: './more/servers.json' },
      'more/servers.json': { b: { command: '${TOOLPLANE_PLUGIN_ROOT}/y' } },
    });
    const found = await read();
    expect(found.sources).toMatchObject([
      { state: 'absent', owner: 'kit' },
      { path: join(directory, 'more/servers.json'), servers: [{ entry: { command: join(directory, 'y') } }] },
    ]);
    expect(found.files.map(({ path }) => path)).toContain(join(directory, 'more/servers.json'));
  });

  test('reads .mcp.json once if plugin.json names it', async () => {
    const { read } = plugin({
      'plugin.json': { mcpServers: './.mcp.json' },
      '.mcp.json': { a: { command: 'x' } },
    });
    expect(names(await read())).toEqual([['a']]);
  });

  test.each<[string, unknown, string]>([
    ['leads out of the plugin', '../servers.json', 'outside of the plugin'],
    ['is not there', 'none.json', 'does not exist'],
    ['is no path', 5, 'must be an object'],
  ])(
    'reports a file that plugin.json names and that %s, and loads the rest',
    async (_name, mcpServers, message) => {
      const { read } = plugin({
        'plugin.json': { mcpServers },
        '.mcp.json': { a: { command: 'x' } },
        '../servers.json': { b: { command: 'y' } },
      });
      const { sources } = await read();
      expect(sources).toMatchObject([
        { state: 'read', servers: [{ name: 'a' }] },
        { state: 'unusable', servers: [], faults: [{ message: expect.stringContaining(message) }] },
      ]);
    },
  );

  test('reports an invalid plugin.json once', async () => {
    const { read } = plugin({ 'plugin.json': '{', '.mcp.json': { a: { command: 'x' } } });
    expect((await read()).sources).toMatchObject([
      { state: 'read', servers: [{ name: 'a' }], owner: 'kit' },
      { state: 'unusable', faults: [{ level: 'error', scope: 'plugin' }] },
    ]);
  });

  test.each([
    ['missing', {}, 'no such directory; check the path of the plugin'],
    ['a file', { '../kit': 'x' }, 'a plugin must be a directory'],
  ])('reports a directory that is %s', async (_name, files, message) => {
    const { directory, read } = plugin(files);
    expect((await read()).sources).toMatchObject([
      { state: 'unusable', label: directory, faults: [{ level: 'error', message }] },
    ]);
  });
});

describe('plugin directories', () => {
  const WORLD = { cwd: '/desk', userHome: '/h/me' };

  function directories(text: string, path?: string) {
    const document = parseDocument(text);
    if (document.state !== 'read') throw new Error('the text is no JSON');
    const { value, locate } = document;
    const place = { scope: 'user', label: 'settings', ...(path && { path }) } as const;
    return pluginDirectories({ ...place, value, locate }, WORLD);
  }

  test.each([
    ['{"plugins":["a","./b","/c","~/d","../e"]}', '/h/me/.toolplane/settings.json', '/h/me/.toolplane'],
    ['{"plugins":["a","./b","/c","~/d","../e"]}', undefined, '/desk'],
  ])('resolves directories relative to the settings file', (text, path, base) => {
    const up = base.slice(0, base.lastIndexOf('/'));
    expect(directories(text, path)).toEqual({
      directories: [`${base}/a`, `${base}/b`, '/c', '/h/me/d', `${up}/e`],
      faults: [],
    });
  });

  test('accepts settings without plugins', () => {
    expect(directories('{}')).toEqual({ directories: [], faults: [] });
  });

  test('reports invalid directories and keeps the others', () => {
    expect(directories('{\n"plugins": ["a", 5, ""] }')).toEqual({
      directories: ['/desk/a'],
      faults: [
        {
          level: 'error',
          scope: 'user',
          label: 'settings',
          key: 'plugins[1]',
          position: { line: 2, column: 18 },
          message: 'must be the path of a directory',
        },
        expect.objectContaining({ key: 'plugins[2]' }),
      ],
    });
    expect(directories('{"plugins": {}}').faults).toMatchObject([{ key: 'plugins' }]);
  });
});

describe('plugin root', () => {
  test('substitutes the directory in every string of an entry, and changes nothing else', () => {
    const entry = {
      command: '${CLAUDE_PLUGIN_ROOT}/run',
      args: ['--a', '${TOOLPLANE_PLUGIN_ROOT}/x:${TOOLPLANE_PLUGIN_ROOT}/y', '${HOME}'],
      env: { ROOT: '${CLAUDE_PLUGIN_ROOT}' },
      timeout: 5,
      literal: '$${CLAUDE_PLUGIN_ROOT}',
    };
    expect(withPluginRoot(entry, '/p')).toEqual({
      command: '/p/run',
      args: ['--a', '/p/x:/p/y', '${HOME}'],
      env: { ROOT: '/p' },
      timeout: 5,
      literal: '$${CLAUDE_PLUGIN_ROOT}',
    });
  });

  test.each([
    ['/a/${HOME}/b', '/a/$${HOME}/b/x'],
    ['/a/$&/b', '/a/$&/b/x'],
  ])('uses a directory called %s literally', (directory, text) => {
    expect(withPluginRoot('${CLAUDE_PLUGIN_ROOT}/x', directory)).toBe(text);
  });
});
