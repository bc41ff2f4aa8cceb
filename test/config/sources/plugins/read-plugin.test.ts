import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPlugin } from '../../../../src/config/sources/plugins/read-plugin.ts';
import { configPlace } from '../../config-place.ts';

function plugin(files: Record<string, unknown>) {
  const place = configPlace();
  const directory = join(place.project, 'kit');
  for (const [path, content] of Object.entries(files)) place.write(join(directory, path), content);
  return { directory, read: () => readPlugin(directory, (path) => path) };
}

/** What counts of each server, by source. */
const names = (it: Awaited<ReturnType<typeof readPlugin>>) =>
  it.sources.map(({ servers }) => servers.map(({ name }) => name));

test('C5: the .mcp.json of a plugin may be a bare map, and its directory is put in', async () => {
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
  '%s gives the name and more servers',
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

test('a file that is read anyway is read once', async () => {
  const { read } = plugin({
    'plugin.json': { mcpServers: './.mcp.json' },
    '.mcp.json': { a: { command: 'x' } },
  });
  expect(names(await read())).toEqual([['a']]);
});

test.each<[string, unknown, string]>([
  ['leads out of the plugin', '../servers.json', 'it is not in the plugin'],
  ['is not there', 'none.json', 'there is no such file'],
  ['is no path', 5, 'it must be an object'],
])('what plugin.json names and %s is told, the rest loads', async (_name, mcpServers, message) => {
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
});

test('a broken plugin.json is one fault', async () => {
  const { read } = plugin({ 'plugin.json': '{', '.mcp.json': { a: { command: 'x' } } });
  expect((await read()).sources).toMatchObject([
    { state: 'read', servers: [{ name: 'a' }], owner: 'kit' },
    { state: 'unusable', faults: [{ level: 'error', scope: 'plugin' }] },
  ]);
});

test.each([
  ['missing', {}, 'there is no such directory; check the path of the plugin'],
  ['a file', { '../kit': 'x' }, 'a plugin is a directory, and this is none'],
])('a directory that is %s is told', async (_name, files, message) => {
  const { directory, read } = plugin(files);
  expect((await read()).sources).toMatchObject([
    { state: 'unusable', label: directory, faults: [{ level: 'error', message }] },
  ]);
});
