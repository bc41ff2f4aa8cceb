import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { explainServer } from '../../../src/config/explain/explain-server.ts';
import { fatalMessages, startupMessages } from '../../../src/config/explain/startup-messages.ts';
import { configPlace } from '../config-place.ts';

describe('say start', () => {
  const HOSTILE = 'x" ; $(touch pwned) ; "';

  async function configured(names: readonly string[]) {
    const place = configPlace();
    const servers = names.map((name) => [name, { command: 'node' }]);
    place.write(join(place.project, '.mcp.json'), { mcpServers: Object.fromEntries(servers) });
    return readConfiguration(place.world());
  }

  test('quotes server names in commands', async () => {
    const configuration = await configured([HOSTILE, "it's"]);
    const lines = startupMessages(configuration);
    expect(lines.map((line) => line.slice(line.indexOf('run ')))).toEqual([
      "run toolplane mcp approve 'it'\\''s'",
      `run toolplane mcp approve '${HOSTILE}'`,
    ]);
    expect(explainServer(configuration, HOSTILE).next).toEqual([
      expect.stringMatching(/: toolplane mcp approve 'x" ; \$\(touch pwned\) ; "'$/),
      expect.stringMatching(/: toolplane mcp reject 'x" ; \$\(touch pwned\) ; "'$/),
    ]);
  });

  test.each(['--trust-repository', '--all', '-s'])(
    'a server cannot be called %s: approving it by name would trust all of the repository',
    async (name) => {
      const configuration = await configured([name, 'fine']);
      expect(configuration.merged.servers.map((it) => it.name)).toEqual(['fine']);
      expect(startupMessages(configuration).filter((line) => line.includes('approve'))).toEqual([
        expect.stringMatching(/run toolplane mcp approve fine$/),
      ]);
      expect(configuration.faults).toMatchObject([
        {
          level: 'error',
          position: { line: 3, column: 5 },
          message: expect.stringContaining('begin with "-"'),
        },
      ]);
      expect(explainServer(configuration, name).next.join()).not.toContain(name);
    },
  );

  test('refers problems of managed files to the administrator, and no others', async () => {
    const place = configPlace();
    place.write(join(place.managed, 'managed-settings.json'), '{ "permissions": ');
    const configuration = await readConfiguration(place.world(), { settings: '{ nonsense' });
    expect(fatalMessages(configuration).toSorted()).toEqual([
      expect.stringMatching(/^--settings.*(?<!this machine)$/),
      expect.stringMatching(
        /managed-settings\.json:1:\d+: .*; nothing is started until this is fixed: ask your administrator$/,
      ),
    ]);
  });
});

describe('say excluded', () => {
  const servers = (...names: string[]) => ({
    mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])),
  });

  test('reports servers that a managed file excludes: those of this run by name, the others by number (R168)', async () => {
    const place = configPlace();
    const managed = place.write(join(place.managed, 'managed-mcp.json'), servers('theirs'));
    place.write(join(place.home, 'settings.json'), servers('a', 'b', 'theirs'));
    place.write(join(place.project, '.mcp.json'), servers('b'));
    const mcpConfigs = [JSON.stringify(servers('mine', 'theirs'))];
    const lines = startupMessages(await readConfiguration(place.world(), { mcpConfigs }));
    const because = `was not started: ${managed} allows only the servers it defines`;
    expect(lines.toSorted()).toEqual([
      `${managed} excludes 3 servers that are configured elsewhere: run toolplane mcp list for details`,
      expect.stringMatching(new RegExp(`^server "mine" in --mcp-config.* ${because}$`)),
      expect.stringMatching(new RegExp(`^server "theirs" in --mcp-config.* ${because}$`)),
    ]);
  });

  test('reports nothing without a managed file', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), servers('a'));
    const mcpConfigs = [JSON.stringify(servers('a')), JSON.stringify(servers('a'))];
    expect(startupMessages(await readConfiguration(place.world(), { mcpConfigs }))).toEqual([]);
  });
});
