import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { faultText } from '../../../src/config/fault-text.ts';
import type { Scope, ServerOverride, Source } from '../../../src/config/model.ts';
import { configPlace } from '../config-place.ts';
import { merge, sourceOf, written } from './written.ts';

const override = (scope: Scope, name: string): ServerOverride => ({
  name,
  scope,
  label: `${scope} settings`,
  members: { timeout: 5 },
});
const everything = sourceOf(written('user', 'everything'));
const empty = (more: Partial<Source>): Source => ({
  scope: 'project',
  label: '.mcp.json',
  state: 'read',
  servers: [],
  faults: [],
  ...more,
});

test('settings of a server that nobody wrote are told, with the name that is likely meant', () => {
  const overrides = [override('user', 'everthing'), override('user', 'everthing'), override('local', 'zzz')];
  const { faults } = merge([everything], { overrides, placeOf: () => ({ line: 7, column: 3 }) });
  expect(faults.map((it) => [it.level, faultText(it)])).toEqual([
    [
      'warning',
      'user settings:7:3: serverSettings.everthing: no server is called so; did you mean "everything"?',
    ],
    ['warning', 'local settings:7:3: serverSettings.zzz: no server is called so'],
  ]);
});

test('what holds for all projects may name a server that only another one has', () => {
  const overrides = [override('user', 'zzz'), override('managed', 'zzz')];
  expect(merge([everything], { overrides }).faults).toEqual([]);
});

test.each<[string, Parameters<typeof merge>[0], Parameters<typeof merge>[1]]>([
  ['waits for approval', [sourceOf(written('project', 'x'))], { choices: { project: 'new' } }],
  ['is rejected', [sourceOf(written('project', 'x'))], { choices: { project: 'rejected' } }],
  ['is broken', [sourceOf(written('user', 'x', 'broken'))], {}],
  ['is left out', [sourceOf(written('user', 'x'))], { isStrict: true }],
  ['a managed file excludes', [sourceOf(written('user', 'x')), sourceOf(written('managed', 'y'))], {}],
  ['is in the program', [], { programNames: ['x'] }],
  ['may stand in what cannot be read', [empty({ state: 'unusable' })], {}],
  ['may stand in what was not looked at', [empty({ state: 'absent', leftOut: true })], {}],
  ['a catalogue may have', [empty({ scope: 'connector', state: 'absent' })], {}],
])('nothing is said of settings of one that %s', (_what, sources, more) => {
  const { faults } = merge(sources, { overrides: [override('local', 'x')], ...more });
  expect(faults.filter(({ key }) => key === 'serverSettings.x')).toEqual([]);
});

test('it is told where it stands in the file', async () => {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), {
    mcpServers: { everything: { command: 'node' } },
    serverSettings: { everthing: { timeout: 5 } },
  });
  const { faults } = await readConfiguration(place.world());
  expect(faults.map(faultText)).toEqual([
    expect.stringMatching(
      /settings\.json:\d+:\d+: serverSettings\.everthing: no server is called so; did you mean "everything"\?$/,
    ),
  ]);
});
