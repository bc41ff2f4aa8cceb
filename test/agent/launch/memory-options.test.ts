import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryOptions } from '../../../src/agent/launch/memory-options.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { configPlace } from '../../config/config-place.ts';

async function optionsFor(settings: object, { scope = 'user', env = {} } = {}) {
  const place = configPlace();
  const directory = scope === 'user' ? place.home : join(place.project, '.toolplane');
  place.write(join(directory, 'settings.json'), settings);
  const configuration = await readConfiguration(place.world());
  const around = { cwd: place.project, home: place.userHome, env };
  return { ...place, options: memoryOptions(configuration, around) };
}

test('the auto-memory folder is the one of Toolplane, then that of the CLI', async () => {
  const { options, home } = await optionsFor({});
  expect(options.autoFolders).toEqual([
    expect.stringMatching(/projects\/\S+-[0-9a-f]{12}\/memory$/),
    expect.stringMatching(/\.claude\/projects\/-\S+\/memory$/),
  ]);
  expect(options.autoFolders?.[0]?.startsWith(home)).toBe(true);
});

test.each([
  [{ autoMemoryEnabled: false }, {}],
  [{}, { CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' }],
])('%j and %j turn it off', async (settings, env) => {
  expect((await optionsFor(settings, { env })).options.autoFolders).toEqual([]);
});

test('a deny rule for Read covers imports', async () => {
  const { options, project } = await optionsFor({ permissions: { deny: ['Read(./.env)'] } });
  expect(['.env', 'notes.md'].map((it) => options.mayRead(join(project, it)))).toEqual([false, true]);
});

test('a project that is not approved excludes no memory files', async () => {
  const settings = { claudeMdExcludes: ['**/CLAUDE.md'] };
  expect((await optionsFor(settings)).options.excludes).toEqual(['**/CLAUDE.md']);
  expect((await optionsFor(settings, { scope: 'project' })).options.excludes).toBeUndefined();
});
