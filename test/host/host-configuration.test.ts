import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHost, HostError, loadConfiguration } from '../../src/entry/host.ts';
import type { HostEvent } from '../../src/host/host-options.ts';
import { odd } from '../cli/host/real-servers.ts';
import { type ConfigPlace, configPlace } from './config/config-place.ts';

const load = (place: ConfigPlace, more: object = {}) =>
  loadConfiguration({ cwd: place.project, env: { ...place.env, ...more } });

describe('a host with a configuration', () => {
  test('runs what may be started, and says why the rest is not', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), {
      mcpServers: { mine: odd(), off: odd() },
      serverSettings: { off: { disabled: true } },
    });
    place.write(join(place.project, '.mcp.json'), { mcpServers: { theirs: odd() } });
    const configuration = await load(place);
    expect(configuration.servers.map(({ name, state }) => [name, state])).toEqual([
      ['mine', 'ready'],
      ['off', 'disabled'],
      ['theirs', 'pending'],
    ]);
    expect(configuration.faults).toEqual([]);
    expect(configuration.explain('theirs')).toMatchObject({ verdict: 'pending', standing: 'unusable' });
    await using host = createHost({ configuration });
    await host.ready();
    expect(Object.keys(host.status())).toEqual(['mine']);
  });

  test('mcpServers of the program beat it, and give the name back', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), { mcpServers: { a: odd({ WHO: 'configured' }) } });
    await using host = createHost({
      configuration: await load(place),
      mcpServers: { a: odd({ WHO: 'program' }) },
    });
    let came = 0;
    using _events = host.events.on((event) => {
      if (event.type === 'state' && event.status.state === 'connected') came++;
    });
    await host.ready();
    expect([Object.keys(host.status()), came]).toEqual([['a'], 1]);
    await host.setServers({});
    await host.ready({ servers: ['a'] });
    expect([Object.keys(host.status()), came]).toEqual([['a'], 2]);
  });

  test('applies what is saved, and tells of it', async () => {
    const place = configPlace();
    const path = place.write(join(place.home, 'settings.json'), { mcpServers: { a: odd() } });
    await using host = createHost({ configuration: await load(place) });
    await host.ready();
    const told = Promise.withResolvers<HostEvent>();
    using _events = host.events.on((event) => event.type === 'configured' && told.resolve(event));
    place.write(path, { mcpServers: { b: odd() } });
    expect(await told.promise).toEqual({ type: 'configured', added: ['b'], removed: ['a'], restarted: [] });
    await host.ready({ servers: ['b'] });
  });

  test('puts in variables and secrets when it dials, and a missing one is named', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), {
      mcpServers: { a: { ...odd(), args: [...odd().args, '${NEEDED}'] } },
    });
    await using host = createHost({ configuration: await load(place) });
    await expect(host.ready({ servers: ['a'] })).rejects.toThrow(/NEEDED/);
    await using other = createHost({ configuration: await load(place, { NEEDED: 'there' }) });
    await other.ready({ servers: ['a'] });
  });

  test('takes its limits from settings where the program sets none', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), {
      mcpServers: { mute: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] } },
      timeouts: { connectMs: 300 },
    });
    await using host = createHost({ configuration: await load(place), retry: { attempts: 0 } });
    await expect(host.ready({ servers: ['mute'] })).rejects.toThrow(/300 ms/);
  });
});

test.each([
  [{ cwd: 7 }, /"cwd" must be a text/],
  [{ settingSource: [] }, /"settingSource" is no option; did you mean "settingSources"\?/],
  [{ settingSources: ['managed'] }, /"settingSources" must be a list of user, project, local/],
  [{ mcpConfig: { a: 1 } }, /"mcpConfig" must be a path or a text/],
])('R15: options that cannot be meant are refused: %j', async (options, message) => {
  const refused = loadConfiguration(options as never);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toBeInstanceOf(HostError);
});
