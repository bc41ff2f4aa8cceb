import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { explainServer } from '../../../src/config/explain/explain-server.ts';
import { faultText } from '../../../src/config/fault-text.ts';
import { RunningConfiguration } from '../../../src/config/running.ts';
import { configPlace } from '../config-place.ts';
import { merge, sourceOf, told, written } from './written.ts';

test('a server in the program itself has its name before all others, and is none of those that are configured', () => {
  const sources = [
    sourceOf(written('connector', 'x', { type: 'http', url: 'https://a.example/' })),
    sourceOf(written('user', 'x'), written('user', 'y')),
    sourceOf(written('program', 'x')),
  ];
  const merged = merge(sources, { programNames: ['x', 'z'] });
  expect(told(merged)).toEqual([
    'y: user ready',
    'nobody has x: program shadowed to the program itself',
    'nobody has x: user shadowed to the program itself',
    'nobody has x: connector shadowed to the program itself',
  ]);
  expect(merged.faults).toEqual([]);
});

test('one whose name a model could not tell from it does not count, and that is told', () => {
  const merged = merge([sourceOf(written('user', 'a b'))], { programNames: ['a_b'] });
  expect(told(merged)).toEqual(['nobody has a b: user same-name to the program itself']);
  expect(merged.faults.map(faultText)).toEqual([
    'user:3:5: mcpServers["a b"]: it does not count, since a model cannot tell its name from a_b of the program itself; ' +
      'rename one of them',
  ]);
});

test('of the program two may look the same to a model, and both have their names', () => {
  const sources = [sourceOf(written('user', 'a b'), written('user', 'a_b'))];
  expect(merge(sources, { programNames: ['a b', 'a_b'] }).servers).toEqual([]);
});

test('what waits for approval, or is left out, is not shown in its place', () => {
  const sources = [sourceOf(written('project', 'x'))];
  const programNames = ['x'];
  expect(told(merge(sources, { programNames, choices: { project: 'new' } }))).toEqual([
    'nobody has x: project pending to the program itself',
  ]);
  expect(told(merge(sources, { programNames, isStrict: true }))).toEqual([
    'nobody has x: project left-out to the program itself',
  ]);
});

test('explain says who has the name, and what to do', async () => {
  const { home, write, world } = configPlace();
  write(join(home, 'settings.json'), {
    version: 1,
    mcpServers: { x: { command: 'run' }, 'a b': { command: 'run' } },
  });
  const sdk = { type: 'sdk' };
  const mcpConfigs = [JSON.stringify({ mcpServers: { x: sdk, a_b: sdk, alone: sdk } })];
  const configuration = await readConfiguration(world(), { mcpConfigs });
  expect(configuration.merged.servers).toEqual([]);
  const running = new RunningConfiguration(configuration);
  expect(Object.keys(running.servers)).toEqual(['x', 'a_b', 'alone']);
  expect(running.scopeOf('x')).toBeUndefined();
  expect(explainServer(configuration, 'x')).toMatchObject({
    verdict: 'lost',
    answer:
      '"x" of ~/.toolplane/settings.json:4:5 (user) does not count: shadowed by the server of this name in the program itself.',
    next: ['to have both, give it another name at ~/.toolplane/settings.json:4:5'],
  });
  expect(explainServer(configuration, 'a b').answer).toBe(
    '"a b" of ~/.toolplane/settings.json:7:5 (user) does not count: models cannot tell its name from "a_b" in the program itself.',
  );
  expect(explainServer(configuration, 'alone').answer).toBe(
    '"alone" is a server in the program itself, and stands in no file.',
  );
});
