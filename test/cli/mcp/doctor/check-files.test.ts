import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileFindings } from '../../../../src/cli/mcp/doctor/check-files.ts';
import { serverFindings } from '../../../../src/cli/mcp/doctor/server-findings.ts';
import { readConfiguration } from '../../../../src/config/configuration.ts';
import { serverRecord } from '../../../../src/config/explain/server-record.ts';
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
  const records = configuration.merged.servers.map(({ name }) => serverRecord(configuration, name));
  return { configuration, records };
}

test('problems of an entry are reported with its server, and its file counts as broken', async () => {
  const { configuration, records } = await configured();
  const found = fileFindings(configuration, LABEL, records);
  expect(found.map(({ check, level, text, fix }) => [check, level, text.replace(/^\S+ /, ''), fix])).toEqual([
    ['file', 'warning', expect.stringContaining('nonsense'), undefined],
    ['entries', 'error', 'entries (see the servers below): bad', undefined],
  ]);
  expect(fileFindings(configuration, '.mcp.json', records)).toEqual([]);
  const ofServers = records.map((it) => serverFindings(it));
  expect(ofServers.map((all) => all.filter(({ level }) => level !== 'ok').map(({ check }) => check))).toEqual(
    [['broken'], ['entry'], ['pending', 'entry']],
  );
  expect(ofServers.flat().filter(({ check }) => check === 'entry')).toEqual([
    { check: 'entry', level: 'warning', text: expect.stringContaining('mcpServers.odd.agrs: ') },
    { check: 'entry', level: 'warning', text: expect.stringContaining('mcpServers.waits.agrs: ') },
  ]);
});

test('problems of entries whose server is not checked are reported with the file', async () => {
  const { configuration } = await configured();
  expect(fileFindings(configuration, LABEL, []).map(({ level }) => level)).toEqual([
    'error',
    'warning',
    'warning',
  ]);
  expect(fileFindings(configuration, '.mcp.json', []).map(({ level }) => level)).toEqual(['warning']);
});
