import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfiguration } from '../../src/config/configuration.ts';
import { sayStart } from '../../src/config/say-start.ts';
import { configPlace } from './config-place.ts';

const servers = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])),
});

test('what a managed file excludes is told: each server of this very run, the others as a number (R168)', async () => {
  const place = configPlace();
  const managed = place.write(join(place.managed, 'managed-mcp.json'), servers('theirs'));
  place.write(join(place.home, 'settings.json'), servers('a', 'b', 'theirs'));
  place.write(join(place.project, '.mcp.json'), servers('b'));
  const mcpConfigs = [JSON.stringify(servers('mine', 'theirs'))];
  const lines = sayStart(await readConfiguration(place.world(), { mcpConfigs }));
  const because = `was not started: ${managed} excludes all servers but its own`;
  expect(lines.toSorted()).toEqual([
    `${managed} excludes 3 servers that are configured elsewhere: run toolplane mcp list to see more`,
    expect.stringMatching(new RegExp(`^server "mine" of --mcp-config.* ${because}$`)),
    expect.stringMatching(new RegExp(`^server "theirs" of --mcp-config.* ${because}$`)),
  ]);
});

test('without such a file nothing is excluded, and nothing is said of what a later flag takes over', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), servers('a'));
  const mcpConfigs = [JSON.stringify(servers('a')), JSON.stringify(servers('a'))];
  expect(sayStart(await readConfiguration(place.world(), { mcpConfigs }))).toEqual([]);
});
