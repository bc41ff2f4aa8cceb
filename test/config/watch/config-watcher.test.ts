import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decideServers } from '../../../src/config/approval/approval-store.ts';
import { type Configuration, readConfiguration } from '../../../src/config/configuration.ts';
import type { ConfigFlags } from '../../../src/config/sources/source-types.ts';
import { type ConfigListener, ConfigWatcher } from '../../../src/config/watch/config-watcher.ts';
import { type ConfigPlace, configPlace } from '../config-place.ts';

/** Watches a configuration; returns the applied configurations as lists of server names, and the notes. */
async function following(place: ConfigPlace, wanted: ConfigFlags = {}, apply?: ConfigListener['apply']) {
  const applied: string[][] = [];
  const notes: string[] = [];
  const it = new ConfigWatcher(await readConfiguration(place.world(), wanted), {
    apply(now, before) {
      // The watcher itself may also trigger a refresh without changes, which is ignored here.
      if (contentOf(now) !== contentOf(before)) applied.push(namesOf(now));
      return apply?.(now, before);
    },
    note: (text) => void notes.push(text),
  });
  onTestFinished(() => it[Symbol.dispose]());
  return { it, applied, notes };
}

const namesOf = ({ merged }: Configuration) =>
  merged.servers.filter(({ verdict }) => verdict.kind === 'ready').map(({ name }) => name);
const contentOf = ({ sources, settingsSources }: Configuration) =>
  JSON.stringify([
    sources.map((source) => source.servers.map(({ name, raw }) => [name, raw])),
    settingsSources.map(({ label, value }) => [label, value]),
  ]);
const servers = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])),
});

describe('keeps the previous content of a file that became invalid, and reports it once', () => {
  type Case = readonly [string, (place: ConfigPlace) => string, unknown, RegExp];
  const CASES: readonly Case[] = [
    ['half written', ({ managed }) => join(managed, 'managed-settings.json'), '{', /cannot be read/],
    ['emptied', ({ project }) => join(project, '.toolplane/settings.json'), '', /is empty; .*write \{\}/],
    ['blank', ({ home }) => join(home, 'settings.json'), ' \n\t\n', /is empty/],
    ['without an object', ({ home }) => join(home, 'settings.json'), { mcpServers: 3 }, /cannot be read/],
    [
      'a file of a flag',
      ({ project }) => join(project, 'given.json'),
      '{',
      /--mcp-config given\.json cannot/,
    ],
    [
      'an emptied one of a flag',
      ({ project }) => join(project, 'given.json'),
      '',
      /given\.json cannot be read/,
    ],
    ['a plugin', ({ project }) => join(project, 'plugin/.mcp.json'), '[', /plugin\/\.mcp\.json cannot/],
    ['new and half', ({ project }) => join(project, '.mcp.json'), '{ "mcp', /\.mcp\.json cannot be read/],
    [
      'fatal',
      ({ managed }) => join(managed, 'managed-settings.json'),
      { permissions: 1 },
      /Toolplane cannot start with/,
    ],
  ];
  test.each(CASES)('%s', async (_, fileOf, content, said) => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), servers('mine'));
    place.write(join(place.managed, 'managed-settings.json'), { model: 'm' });
    place.write(join(place.project, '.toolplane/settings.json'), { permissions: { deny: ['Bash'] } });
    place.write(join(place.project, 'given.json'), servers('given'));
    place.write(join(place.project, 'plugin/.mcp.json'), servers('plugged'));
    const wanted = { mcpConfigs: ['given.json'], pluginDirs: ['plugin'] };
    const { it, applied, notes } = await following(place, wanted);
    const before = contentOf(it.current);
    const path = fileOf(place);
    place.write(path, content);
    await it.refresh();
    await it.refresh();
    const held = () => notes.filter((text) => text.includes('its previous content stays active'));
    expect([contentOf(it.current), applied, held()]).toEqual([before, [], [expect.stringMatching(said)]]);
    place.write(path, servers('other'));
    await it.refresh();
    expect(applied).toHaveLength(1);
    place.write(path, content);
    await it.refresh();
    expect(held()).toHaveLength(2);
  });

  test('approvals that can no longer be read', async () => {
    const place = configPlace();
    const path = place.write(join(place.project, '.mcp.json'), servers('theirs'));
    const raw = { command: 'theirs' };
    decideServers(place.home, [{ scope: 'project', path, name: 'theirs', raw }], 'approved');
    const { it, applied, notes } = await following(place);
    chmodSync(join(place.home, 'choices.json'), 0o644);
    await it.refresh();
    expect([namesOf(it.current), applied, notes.at(-1)]).toEqual([
      ['theirs'],
      [],
      expect.stringMatching(/choices\.json cannot be read; its previous content stays active/),
    ]);
  });
});

test('an invalid project file does not delay denials, rejections or a managed file', async () => {
  const place = configPlace();
  const project = join(place.project, '.toolplane/settings.json');
  const path = place.write(join(place.project, '.mcp.json'), servers('theirs'));
  const raw = { command: 'theirs' };
  const theirs = { scope: 'project', path, name: 'theirs', raw } as const;
  decideServers(place.home, [theirs], 'approved');
  place.write(project, { permissions: { deny: ['WebFetch'] } });
  place.write(join(place.home, 'settings.json'), servers('mine'));
  const { it } = await following(place);
  const denied = () => it.current.settings.rules.map(({ tool }) => tool).toSorted();
  place.write(project, '{ "permissions": ');
  await it.refresh();
  expect([namesOf(it.current), denied()]).toEqual([['mine', 'theirs'], ['WebFetch']]);
  place.write(join(place.managed, 'managed-settings.json'), { permissions: { deny: ['Bash'] } });
  decideServers(place.home, [theirs], 'rejected');
  await it.refresh();
  expect([namesOf(it.current), denied()]).toEqual([['mine'], ['Bash', 'WebFetch']]);
  place.write(join(place.managed, 'managed-mcp.json'), servers('only'));
  await it.refresh();
  expect([namesOf(it.current), denied()]).toEqual([['only'], ['Bash', 'WebFetch']]);
  place.write(project, { permissions: { deny: ['Write'] } });
  await it.refresh();
  expect(denied()).toEqual(['Bash', 'Write']);
});

test('problems from the start delay nothing; a deleted file has no content', async () => {
  const place = configPlace();
  const path = place.write(join(place.home, 'settings.json'), {
    ...servers('mine'),
    sandbox: { enabled: true },
  });
  place.write(join(place.project, '.mcp.json'), '{');
  const { it, applied, notes } = await following(place);
  place.write(path, { note: 'a line more', ...servers('mine', 'more'), sandbox: { enabled: true } });
  await it.refresh();
  rmSync(path);
  await it.refresh();
  expect(applied).toEqual([['mine', 'more'], []]);
  expect(notes.filter((text) => text.includes('stays active'))).toEqual([]);
});

test('reports a listener that fails and still calls it for the next change', async () => {
  const place = configPlace();
  const path = place.write(join(place.home, 'settings.json'), servers('a'));
  let isBad = true;
  const { it, applied, notes } = await following(place, {}, () => {
    if (isBad) throw new Error('no room');
  });
  place.write(path, servers('b'));
  await it.refresh();
  expect(new Set(notes)).toEqual(new Set(['changes of the configuration were not fully applied: no room']));
  isBad = false;
  place.write(path, servers('c'));
  await it.refresh();
  expect(applied).toEqual([['b'], ['c']]);
});

test('a listener that throws on a note still gets the next change', async () => {
  const place = configPlace();
  const path = place.write(join(place.home, 'settings.json'), servers('a'));
  const applied: string[][] = [];
  using it = new ConfigWatcher(await readConfiguration(place.world()), {
    apply: (now, before) => void (contentOf(now) !== contentOf(before) && applied.push(namesOf(now))),
    note: () => {
      throw new Error('deaf');
    },
  });
  place.write(path, '{');
  await it.refresh();
  place.write(path, servers('b'));
  await it.refresh();
  expect(applied).toEqual([['b']]);
});

test('does not apply a read that ends after disposal', async () => {
  const place = configPlace();
  const path = place.write(join(place.home, 'settings.json'), servers('a'));
  const { it, applied, notes } = await following(place);
  place.write(path, servers('b'));
  const read = it.refresh();
  await Promise.resolve();
  it[Symbol.dispose]();
  await read;
  await it.refresh();
  expect([applied, notes, namesOf(it.current)]).toEqual([[], [], ['a']]);
});

test('applies the flags to every later read', async () => {
  const place = configPlace();
  const path = place.write(join(place.home, 'settings.json'), servers('a'));
  const { it, applied } = await following(place, {
    isStrict: true,
    mcpConfigs: [JSON.stringify(servers('given'))],
  });
  place.write(path, servers('a', 'b'));
  await it.refresh();
  expect(applied).toEqual([['given']]);
});

test('reports once that a file can be read again', async () => {
  const place = configPlace();
  const mine = place.write(join(place.home, 'settings.json'), '{');
  const theirs = place.write(join(place.managed, 'managed-settings.json'), {});
  const { it, applied, notes } = await following(place);
  const again = () => notes.splice(0).filter((text) => text.includes('again'));
  place.write(theirs, '{');
  await it.refresh();
  place.write(mine, servers('a'));
  await it.refresh();
  const told = (name: string) =>
    expect.stringMatching(new RegExp(`${name} can be read again and is active$`));
  expect([again(), applied]).toEqual([[told('/settings.json')], [['a']]]);
  place.write(theirs, {});
  await it.refresh();
  expect(again()).toEqual([told('managed-settings.json')]);
  expect(applied).toEqual([['a']]);
  place.write(mine, servers('a', 'b'));
  await it.refresh();
  expect([again(), applied.at(-1)]).toEqual([[], ['a', 'b']]);
});
