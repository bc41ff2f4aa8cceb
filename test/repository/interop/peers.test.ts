import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PEERS, worksWithRows } from '../../../interop/peers/peers.ts';
import { OFFICIAL_NAME, USERS } from '../../../interop/peers/project.ts';
import { loadScenario, scenarioNames } from '../../../interop/peers/scenario.ts';

// `npm run interop` installs and runs the published packages; they are too large for every test run.

function dependencies(folder: string): Record<string, string> {
  const url = new URL(`../../../${folder}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')).dependencies;
}

test('every published package has one scenario, a pinned version and a row in the documentation', async () => {
  expect(Object.keys(PEERS)).toEqual(scenarioNames());
  expect(Object.values(PEERS).map((peer) => peer.package)).toHaveLength(USERS.length);
  expect(Object.values(PEERS).map((peer) => peer.package)).toEqual(expect.arrayContaining([...USERS]));
  for (const version of Object.values(dependencies('interop/peers'))) expect(version).toMatch(/^\d[\w.-]*$/);
  expect(worksWithRows().map(([name]) => name)).not.toContainEqual(expect.stringContaining('undefined'));
});

test('a scenario can be loaded without the published packages', async () => {
  for (const name of scenarioNames()) {
    expect(await loadScenario(name)).toMatchObject({ run: expect.any(Function), script: expect.anything() });
  }
});

test('the published packages run with the official package that the other programs run with', () => {
  expect(dependencies('interop/peers')[OFFICIAL_NAME]).toBe(dependencies('interop')[OFFICIAL_NAME]);
});
