import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decideServers } from '../../src/config/approval/approval-store.ts';
import { createHost, HostError, loadConfiguration } from '../../src/entry/host.ts';
import type { HostEvent } from '../../src/host/host-options.ts';
import { odd } from '../cli/support/real-servers.ts';
import { type ConfigPlace, configPlace } from '../config/config-place.ts';

const load = (place: ConfigPlace, more: object = {}) =>
  loadConfiguration({ cwd: place.project, env: { ...place.env, ...more } });

describe('a host with a configuration', () => {
  test('runs the servers that may be started and reports why others are not', async () => {
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
    expect(configuration.explain('theirs')).toMatchObject({ verdict: 'pending', status: 'unusable' });
    await using host = createHost({ configuration });
    await host.ready();
    const { mine, ...aside } = host.status();
    expect(mine).toMatchObject({ state: 'connected' });
    const disabled = { state: 'disabled', since: expect.any(Number), attempt: 0, stderr: [] };
    const [off, theirs] = [
      /^MCP server "off": not started: disabled in .*settings\.json; remove "disabled"/,
      /^MCP server "theirs": not started: \.mcp\.json:3:5 .*: toolplane mcp approve theirs$/,
    ];
    expect(aside).toEqual({
      off: {
        ...disabled,
        cause: { code: 'bad-config', message: expect.stringMatching(off), detail: expect.any(String) },
      },
      theirs: {
        ...disabled,
        cause: { code: 'bad-config', message: expect.stringMatching(theirs), detail: expect.any(String) },
      },
    });
    const refused = {
      name: 'HostError',
      code: 'bad-config',
      server: 'theirs',
      message: theirs,
      hasRun: 'no',
    };
    await expect(host.callTool('theirs', 'x')).rejects.toMatchObject(refused);
    await expect(host.readResource('theirs', 'x:y')).rejects.toMatchObject(refused);
    await expect(host.reconnect('theirs')).rejects.toMatchObject(refused);
    await expect(host.ready({ servers: ['mine', 'theirs'] })).rejects.toMatchObject({
      name: 'NotReadyError',
      code: 'bad-config',
      message: theirs,
    });
    await expect(host.callTool('unknown', 'x')).rejects.toMatchObject({ code: 'unknown-server' });
    await host.close();
    expect(host.status().theirs).toMatchObject({ state: 'disabled', cause: { code: 'closed' } });
  });

  test('reports why a server with only inactive entries cannot be used', async () => {
    const place = configPlace();
    place.write(join(place.managed, 'managed-mcp.json'), { mcpServers: {} });
    place.write(join(place.home, 'settings.json'), { mcpServers: { mine: odd() } });
    await using host = createHost({ configuration: await load(place) });
    await expect(host.callTool('mine', 'x')).rejects.toMatchObject({
      code: 'bad-config',
      message: /^MCP server "mine": it does not count: .*managed-mcp\.json excludes/,
    });
    expect(host.status()).toEqual({});
  });

  test('reports servers that are stopped because a changed entry is not approved', async () => {
    const place = configPlace();
    const path = place.write(join(place.project, '.mcp.json'), { mcpServers: { theirs: odd() } });
    decideServers(place.home, [{ scope: 'project', path, name: 'theirs', raw: odd() }], 'approved');
    await using host = createHost({ configuration: await load(place) });
    await host.ready({ servers: ['theirs'] });
    const told = Promise.withResolvers<HostEvent>();
    using _events = host.events.on((event) => event.type === 'warning' && told.resolve(event));
    place.write(path, { mcpServers: { theirs: odd({ OTHER: '1' }) } });
    expect(await told.promise).toEqual({
      type: 'warning',
      server: '',
      message: expect.stringMatching(/^server "theirs" in \.mcp\.json:3:5 changed since it was approved/),
    });
    expect(host.status().theirs).toMatchObject({ state: 'disabled', cause: { code: 'bad-config' } });
  });

  test('mcpServers of the program take precedence until they are removed', async () => {
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

  test('applies changed files and emits an event', async () => {
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

  test('two hosts share a configuration, and each closes only its own servers', async () => {
    const place = configPlace();
    const path = place.write(join(place.home, 'settings.json'), { mcpServers: {} });
    const save = (...names: string[]) =>
      place.write(path, { mcpServers: Object.fromEntries(names.map((name) => [name, odd()])) });
    const configuration = await load(place);
    const first = createHost({ configuration });
    await using second = createHost({ configuration });
    const has = (host: typeof first, ...names: string[]) =>
      expect.poll(() => Object.keys(host.status()).toSorted(), { timeout: 10_000 }).toEqual(names);
    save('one');
    await has(first, 'one');
    await has(second, 'one');
    await first.close();
    save('one', 'two');
    await has(second, 'one', 'two');
    expect(configuration.servers.map(({ name }) => name)).toEqual(['one', 'two']);
    await second.close();
    save('three');
    // A host that is created after all others were closed gets the changes that were saved in between.
    await using third = createHost({ configuration });
    await has(third, 'three');
  });

  test('substitutes variables and secrets when connecting, and names a missing one', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), {
      mcpServers: { a: { ...odd(), args: [...odd().args, '${NEEDED}'] } },
    });
    await using host = createHost({ configuration: await load(place) });
    await expect(host.ready({ servers: ['a'] })).rejects.toThrow(/NEEDED/);
    await using other = createHost({ configuration: await load(place, { NEEDED: 'there' }) });
    await other.ready({ servers: ['a'] });
  });

  test('uses limits of settings that the program does not set', async () => {
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
  [{ cwd: 7 }, /"cwd" must be a non-empty string/],
  [{ settingSource: [] }, /"settingSource" is not an option; did you mean "settingSources"\?/],
  [
    { settingSources: ['managed'] },
    /"settingSources" must be a list, each one of "user", "project", "local"/,
  ],
  [{ mcpConfig: { a: 1 } }, /"mcpConfig" must be a non-empty string, or a list/],
  [{ cwd: '/nonexistent' }, /^"cwd" is \/nonexistent, which is not a readable directory/],
  [
    { cwd: import.meta.filename },
    /^"cwd" is .*host-configuration\.test\.ts, which is not a readable directory/,
  ],
])('rejects invalid options: %j', async (options, message) => {
  const refused = loadConfiguration(options as never);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toBeInstanceOf(HostError);
});
