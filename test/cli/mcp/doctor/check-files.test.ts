import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileFaults } from '../../../../src/cli/mcp/doctor/check-files.ts';
import { checkBefore } from '../../../../src/cli/mcp/doctor/check-server.ts';
import { readConfiguration } from '../../../../src/config/configuration.ts';
import { configPlace } from '../../../config/config-place.ts';

const LABEL = '~/.toolplane/settings.json';

async function configured() {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), {
    mcpServers: { bad: { command: 3 }, odd: { command: process.execPath, agrs: [] } },
    nonsense: 1,
  });
  place.write(join(place.project, '.mcp.json'), {
    mcpServers: { odd: { command: 'x' }, waits: { agrs: [], command: 'x' } },
  });
  const configuration = await readConfiguration(place.world());
  const { servers } = configuration.merged;
  return { configuration, servers };
}

test('what is wrong with an entry is told at its server, and its file is not said to be well', async () => {
  const { configuration, servers } = await configured();
  const found = fileFaults(configuration, LABEL, servers);
  expect(found.map(({ check, level, text, fix }) => [check, level, text.replace(/^\S+ /, ''), fix])).toEqual([
    ['file', 'warning', expect.stringContaining('nonsense'), undefined],
    ['entries', 'error', 'entries, told below: bad', undefined],
  ]);
  expect(fileFaults(configuration, '.mcp.json', servers)).toEqual([]);
  const told = await Promise.all(servers.map((it) => checkBefore(configuration, it)));
  expect(told.map((all) => all.filter(({ level }) => level !== 'ok').map(({ check }) => check))).toEqual([
    ['broken'],
    ['entry'],
    ['pending', 'entry'],
  ]);
  expect(told.flat().filter(({ check }) => check === 'entry')).toEqual([
    { check: 'entry', level: 'warning', text: expect.stringContaining('mcpServers.odd.agrs: ') },
    { check: 'entry', level: 'warning', text: expect.stringContaining('mcpServers.waits.agrs: ') },
  ]);
});

test('what no server below tells is told at the file', async () => {
  const { configuration } = await configured();
  expect(fileFaults(configuration, LABEL, []).map(({ level }) => level)).toEqual([
    'error',
    'warning',
    'warning',
  ]);
  expect(fileFaults(configuration, '.mcp.json', []).map(({ level }) => level)).toEqual(['warning']);
});
