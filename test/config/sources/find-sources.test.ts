import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSources } from '../../../src/config/sources/find-sources.ts';
import { cachePath, writeCache } from '../../../src/config/sources/read-connectors.ts';
import type { ConfigFlags, FoundSources } from '../../../src/config/sources/source-types.ts';

import { type ConfigPlace, configPlace } from '../config-place.ts';

const server = (command: string) => ({ mcpServers: { [command]: { command } } });

/** Every kind of source, each with one server that has the name of the source. */
function everywhere(): { place: ConfigPlace; deep: string; wanted: ConfigFlags } {
  const place = configPlace();
  const { project, home, managed, write } = place;
  const deep = join(project, 'deep');
  const connector = { url: 'https://c.example/list?key=s3cret' };
  write(join(home, 'settings.json'), { ...server('user'), plugins: ['kit'], connectors: [connector] });
  write(join(home, 'kit', '.mcp.json'), { plugin: { command: 'plugin' } });
  writeCache(
    cachePath(home, connector),
    { label: 'x' },
    {
      fetchedAt: '',
      body: { mcpServers: { connector: { url: 'https://s.example/mcp' } } },
    },
  );
  write(join(project, '.mcp.json'), server('far'));
  write(join(deep, '.mcp.json'), server('near'));
  write(join(project, '.toolplane', 'settings.json'), { model: 'far' });
  write(join(deep, '.toolplane', 'settings.json'), { model: 'near' });
  write(join(project, '.toolplane', 'settings.local.json'), server('local-far'));
  write(join(deep, '.toolplane', 'settings.local.json'), { ...server('local-near'), model: 'local' });
  write(join(managed, 'managed-mcp.json'), server('managed'));
  write(join(managed, 'managed-settings.json'), { deniedMcpServers: [] });
  write(join(deep, 'flag.json'), server('flag'));
  write(join(deep, 'kit2', '.mcp.json'), server('plugin2'));
  const wanted = {
    mcpConfigs: [JSON.stringify(server('text')), 'flag.json'],
    settings: '{"model":"flag"}',
    managedSettings: { model: 'handed on' },
    pluginDirs: ['kit2'],
  };
  return { place, deep, wanted };
}

/** Scope, label and servers of each existing source. */
const seen = ({ sources }: FoundSources) =>
  sources
    .filter(({ state }) => state === 'read')
    .map(({ scope, label, servers }) => [scope, label, servers.map(({ name }) => name).join()]);

test('R166: finds every source, lowest precedence first', async () => {
  const { place, deep, wanted } = everywhere();
  const found = findSources(place.world({}, deep), wanted);
  expect(seen(found)).toEqual([
    ['connector', 'https://c.example/list', 'connector'],
    ['plugin', '~/.toolplane/kit/.mcp.json', 'plugin'],
    ['plugin', 'kit2/.mcp.json', 'plugin2'],
    ['user', '~/.toolplane/settings.json', 'user'],
    ['project', '../.mcp.json', 'far'],
    ['project', '.mcp.json', 'near'],
    ['local', '../.toolplane/settings.local.json', 'local-far'],
    ['local', '.toolplane/settings.local.json', 'local-near'],
    ['program', '--mcp-config', 'text'],
    ['program', '--mcp-config flag.json', 'flag'],
    ['managed', join(place.managed, 'managed-mcp.json'), 'managed'],
  ]);
  expect(found.settingsSources.map(({ scope, label, value }) => [scope, label, value.model])).toEqual([
    ['user', '~/.toolplane/settings.json', undefined],
    ['project', '../.toolplane/settings.json', 'far'],
    ['project', '.toolplane/settings.json', 'near'],
    ['local', '../.toolplane/settings.local.json', undefined],
    ['local', '.toolplane/settings.local.json', 'local'],
    ['program', '--settings', 'flag'],
    // Managed files take precedence over managed settings of a flag.
    ['managed', '--managed-settings', 'handed on'],
    ['managed', join(place.managed, 'managed-settings.json'), undefined],
  ]);
  expect(found).toMatchObject({ root: place.project, sourceFaults: [], unreadPolicies: [], program: {} });
  expect(found.connectors.map(({ label }) => label)).toEqual(['https://c.example/list']);
  expect(found.sources.flatMap(({ faults }) => faults)).toEqual([]);
});

test('lists the files that were looked for', async () => {
  const place = configPlace();
  const found = findSources(place.world(), {});
  const { project, home, managed } = place;
  expect(found.sources.map(({ scope, path, state }) => [scope, path, state])).toEqual([
    ['user', join(home, 'settings.json'), 'absent'],
    ['project', join(project, '.mcp.json'), 'absent'],
    ['local', join(project, '.toolplane/settings.local.json'), 'absent'],
    ['managed', '/etc/toolplane/managed-mcp.json', 'absent'],
    ['managed', join(managed, 'managed-mcp.json'), 'absent'],
  ]);
  expect(found.settingsSources).toEqual([]);
  expect(found.files.map(({ path }) => path)).toContain(join(project, '.toolplane/settings.json'));
  expect(found.files.map(({ path }) => path)).toContain(join(managed, 'managed-settings.json'));
});

test.each<[readonly string[], readonly string[]]>([
  [[], []],
  [['user'], ['connector', 'plugin', 'user']],
  [['project'], ['project', 'project']],
  [
    ['local', 'project'],
    ['project', 'project', 'local', 'local'],
  ],
])('reads only the scopes %j and marks the others as left out', async (scopes, read) => {
  const { place, deep } = everywhere();
  const found = findSources(place.world({}, deep), { scopes });
  expect(seen(found).map(([scope]) => scope)).toEqual([...read, 'managed']);
  const leftOut = found.sources.filter((it) => it.leftOut);
  const all = ['user', 'project', 'project', 'local', 'local'];
  expect(leftOut.map(({ scope }) => scope)).toEqual(all.filter((it) => !scopes.includes(it)));
  for (const it of leftOut) expect(it).toMatchObject({ state: 'absent', servers: [], faults: [] });
  for (const { scope } of found.settingsSources) expect([...scopes, 'managed']).toContain(scope);
  for (const { path } of leftOut) expect(found.files.map(({ path }) => path)).not.toContain(path);
});

test('reads flags whatever the scopes are', async () => {
  const { place, deep, wanted } = everywhere();
  const found = findSources(place.world({}, deep), { ...wanted, scopes: [] });
  expect(seen(found).map(([scope]) => scope)).toEqual(['plugin', 'program', 'program', 'managed']);
});

test('separates in-process servers; of one name the later is used', async () => {
  const sdk = { type: 'sdk', name: 'x', timeout: 5000 };
  const place = configPlace();
  const { program, sources } = findSources(place.world(), {
    mcpConfigs: [
      JSON.stringify({ mcpServers: { a: sdk, b: sdk, c: { command: 'x' } } }),
      JSON.stringify({ mcpServers: { b: { command: 'y' }, c: sdk } }),
    ],
  });
  expect(program).toEqual({
    a: { type: 'sdk', name: 'a', timeout: 5000 },
    c: { type: 'sdk', name: 'c', timeout: 5000 },
  });
  const given = sources.filter(({ scope }) => scope === 'program');
  expect(given.map(({ servers, faults }) => [servers.map(({ name }) => name), faults])).toEqual([
    [['c'], []],
    [['b'], []],
  ]);
});

test.each([
  ['missing.json', '--mcp-config missing.json', 'no such file; check the path'],
  ['{"mcpServers": s3cret}', '--mcp-config', 'not valid JSON'],
  ['[]', '--mcp-config', 'must contain one JSON object'],
  ['{}', '--mcp-config', 'has no "mcpServers" object'],
  ['s3cret text: no path', 'the file of --mcp-config', 'no such file; check the path'],
])('reports an unusable --mcp-config=%s', async (text, label, message) => {
  const place = configPlace();
  const found = findSources(place.world(), { mcpConfigs: [text, JSON.stringify(server('good'))] });
  const [bad, good] = found.sources.filter(({ scope }) => scope === 'program');
  expect(bad).toMatchObject({ label, state: 'unusable', servers: [] });
  expect(bad?.faults).toEqual([expect.objectContaining({ level: 'error', scope: 'program', label })]);
  expect(bad?.faults[0]?.key).toBeUndefined();
  expect(bad?.faults[0]?.message).toContain(message);
  expect(JSON.stringify(bad?.faults)).not.toContain('s3cret');
  expect(good).toMatchObject({ state: 'read', servers: [{ name: 'good' }] });
});

test('reports unreadable --settings and reads everything else', async () => {
  const place = configPlace();
  place.write(join(place.project, '.mcp.json'), server('a'));
  const found = findSources(place.world(), { settings: 'none.json' });
  expect(found.sourceFaults).toMatchObject([
    { level: 'error', scope: 'program', label: '--settings none.json' },
  ]);
  expect(found.settingsSources).toEqual([]);
  expect(found.sources.flatMap(({ servers }) => servers)).toHaveLength(1);
});

/** Ways to make the file of a source unreadable. */
const SPOILT: readonly [string, (path: string, place: ConfigPlace) => void][] = [
  ['is broken', (path, { write }) => void write(path, '{ "mcpServers": {')],
  ['is a directory', (path) => void mkdirSync(path, { recursive: true })],
  ['is huge', (path, { write }) => void write(path, `{"x":"${'x'.repeat(10 * 2 ** 20)}"}`)],
  ['is no text', (path, { write }) => void write(path, '\0\x01')],
  ['is of a list', (path, { write }) => void write(path, [])],
  ['leads in a circle', (path) => symlinkSync(path, path)],
];

test.each(SPOILT)('a file that %s is one fault, and no other is affected', async (_name, spoil) => {
  const { place, deep, wanted } = everywhere();
  const { project, home } = place;
  const good = findSources(place.world({}, deep), wanted);
  const spoilt = [
    join(home, 'settings.json'),
    join(project, '.mcp.json'),
    join(deep, '.toolplane/settings.json'),
  ];
  for (const path of spoilt) {
    rmSync(path);
    spoil(path, place);
  }
  const found = findSources(place.world({}, deep), wanted);
  const faults = [...found.sources.flatMap((it) => it.faults), ...found.sourceFaults];
  expect(faults.map(({ level, label }) => [level, label])).toEqual([
    ['error', '~/.toolplane/settings.json'],
    ['error', '../.mcp.json'],
    ['error', '.toolplane/settings.json'],
  ]);
  // The plugins and connectors that the user's settings name are missing too.
  const gone = ['connector', 'user', 'plugin', 'far'];
  expect(seen(found)).toEqual(seen(good).filter(([, , names]) => !gone.includes(names ?? '')));
});

test('does not follow links out of the project, but follows the user’s own', async () => {
  const place = configPlace();
  const { project, home, userHome, write } = place;
  symlinkSync(write(join(userHome, 'elsewhere.json'), server('a')), join(project, '.mcp.json'));
  mkdirSync(home);
  symlinkSync(write(join(userHome, 'dotfiles', 's.json'), server('b')), join(home, 'settings.json'));
  const found = findSources(place.world(), {});
  expect(seen(found)).toEqual([['user', '~/.toolplane/settings.json', 'b']]);
  expect(found.sources.flatMap(({ faults }) => faults)).toMatchObject([
    {
      level: 'error',
      label: '.mcp.json',
      message: expect.stringContaining('is a symbolic link to a path outside of'),
    },
  ]);
});

test('lists managed settings that cannot be read', async () => {
  const place = configPlace();
  const path = place.write(join(place.managed, 'managed-settings.json'), '{');
  const { unreadPolicies, sourceFaults: faults } = findSources(place.world(), {});
  expect(unreadPolicies).toEqual([path]);
  expect(faults).toMatchObject([{ level: 'error', scope: 'managed', label: path }]);
});

test('ignores plugins and connectors of a project', async () => {
  const place = configPlace();
  const settings = { plugins: ['kit'], connectors: [{ url: 'https://evil.example' }] };
  place.write(join(place.project, 'kit', '.mcp.json'), server('a'));
  place.write(join(place.project, '.toolplane', 'settings.json'), settings);
  place.write(join(place.project, '.toolplane', 'settings.local.json'), settings);
  const found = findSources(place.world(), { settings: JSON.stringify(settings) });
  expect(found.connectors).toEqual([]);
  expect(found.sources.filter(({ scope }) => scope === 'plugin')).toEqual([]);
});

test('reads a duplicate once, as the later source has it', async () => {
  const place = configPlace();
  const url = 'https://c.example/';
  place.write(join(place.home, 'settings.json'), {
    plugins: ['kit', './kit'],
    connectors: [{ url, headers: { a: '1' } }, { url: 'https://d.example/' }, { url, headers: { a: '2' } }],
  });
  place.write(join(place.home, 'kit', '.mcp.json'), server('a'));
  const found = findSources(place.world(), { pluginDirs: [join(place.home, 'kit'), ''] });
  expect(seen(found).filter(([scope]) => scope === 'plugin')).toHaveLength(1);
  expect(found.connectors.map(({ label, headers }) => [label, headers])).toEqual([
    ['https://d.example/', undefined],
    ['https://c.example/', { a: '2' }],
  ]);
});

test('in the user’s home, user settings are not project settings', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), server('mine'));
  place.write(join(place.userHome, '.mcp.json'), server('here'));
  const found = findSources(place.world({}, place.userHome), {});
  expect(found.root).toBeUndefined();
  expect(seen(found)).toEqual([
    ['user', '~/.toolplane/settings.json', 'mine'],
    ['project', '.mcp.json', 'here'],
  ]);
  expect(found.settingsSources.map(({ scope }) => scope)).toEqual(['user']);
});

test('ignores settings of a newer version', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { version: 99, ...server('a') });
  place.write(join(place.project, '.mcp.json'), { version: 99, ...server('b') });
  const found = findSources(place.world(), { settings: '{"version":99}' });
  expect(seen(found)).toEqual([['project', '.mcp.json', 'b']]);
  expect([...found.sources.flatMap((it) => it.faults), ...found.sourceFaults]).toMatchObject([
    { label: '~/.toolplane/settings.json', message: expect.stringContaining('version 99') },
    { label: '--settings', message: expect.stringContaining('version 99') },
  ]);
});
