import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Configuration, readConfiguration } from '../../../src/config/configuration.ts';
import { forbiddenNow } from '../../../src/config/merge/forbidden-now.ts';
import { RunningConfiguration } from '../../../src/config/running.ts';
import { configPlace } from '../config-place.ts';

const ENTRIES = {
  open: { type: 'http' as const, url: `\${HUB}/mcp` },
  plain: { type: 'http' as const, url: 'https://a.example/mcp' },
};

/** Which servers must end when what those who run the machine say changes to this. */
async function ended(managed: Record<string, unknown>): Promise<string[]> {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), { version: 1, mcpServers: ENTRIES });
  const read = () => readConfiguration(place.world({ HUB: 'https://hub.example' }));
  const before = await read();
  for (const [name, content] of Object.entries(managed)) place.write(join(place.managed, name), content);
  const now = await read();
  return forbiddenNow(before, now, Object.entries(new RunningConfiguration(before).servers), mayDial(now));
}

const mayDial = (now: Configuration) => {
  const running = new RunningConfiguration(now);
  return (...given: Parameters<RunningConfiguration['expand']>) => {
    try {
      running.expand(...given);
      return true;
    } catch {
      return false;
    }
  };
};

test('a server ends if what it led to when it was dialled is forbidden now', async () => {
  const deniedMcpServers = [{ serverUrl: 'https://hub.example/*' }];
  expect(await ended({ 'managed-settings.json': { deniedMcpServers } })).toEqual(['open']);
});

test('a list that forbids none of them ends none', async () => {
  const deniedMcpServers = [{ serverUrl: 'https://other.example/*' }];
  expect(await ended({ 'managed-settings.json': { deniedMcpServers } })).toEqual([]);
});

test('a managed file that was put there ends all others', async () => {
  expect(await ended({ 'managed-mcp.json': { mcpServers: {} } })).toEqual(['open', 'plain']);
});

test('while nothing of it changes nobody is asked', async () => {
  const place = configPlace();
  place.write(join(place.managed, 'managed-settings.json'), { deniedMcpServers: [{ serverName: 'x' }] });
  const before = await readConfiguration(place.world());
  place.write(join(place.managed, 'managed-settings.json'), {
    model: 'other',
    deniedMcpServers: [{ serverName: 'x' }],
  });
  const now = await readConfiguration(place.world());
  expect(forbiddenNow(before, now, [['a', 1]], () => expect.unreachable())).toEqual([]);
});
