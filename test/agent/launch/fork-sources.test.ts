import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { forkSources } from '../../../src/agent/launch/fork-sources.ts';
import { sessionPath } from '../../../src/agent/transcript/place.ts';
import { CWD as cwd, HEADER, temporaryRoot } from '../transcript/sessions.ts';

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Sessions by number, each with what its file says first. */
async function kept(files: Record<number, string>) {
  const root = await temporaryRoot();
  const pathOf = (n: number) => sessionPath({ root, cwd, sessionId: id(n) });
  mkdirSync(dirname(pathOf(0)), { recursive: true });
  for (const [n, text] of Object.entries(files)) writeFileSync(pathOf(Number(n)), text);
  return { root, pathOf };
}

const header = (forkedFrom?: string) => `${JSON.stringify({ ...HEADER, forkedFrom })}\n{"type":"user"}\n`;

test('one after the other, up to the first or to one that cannot be read', async () => {
  const { root, pathOf } = await kept({ 1: header(id(2)), 2: header(), 3: header(id(4)), 4: 'torn {' });
  const sources = (n: number) => forkSources(id(n), { root, cwd });
  expect(await sources(1)).toEqual([pathOf(1), pathOf(2)]);
  expect(await sources(3)).toEqual([pathOf(3), pathOf(4)]);
  expect(await sources(9)).toEqual([pathOf(9)]);
  expect(await forkSources(undefined, { root, cwd })).toEqual([]);
});

test('what is no id of a session becomes no path', async () => {
  const { root, pathOf } = await kept({ 1: header('../../etc') });
  expect(await forkSources('../x', { root, cwd })).toEqual([]);
  expect(await forkSources(id(1), { root, cwd })).toEqual([pathOf(1)]);
});

test('a circle and an endless row come to an end', async () => {
  const row = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n + 10, header(id(n + 11))]));
  const { root, pathOf } = await kept({ 1: header(id(2)), 2: header(id(1)), ...row });
  expect(await forkSources(id(1), { root, cwd })).toEqual([pathOf(1), pathOf(2)]);
  expect(await forkSources(id(10), { root, cwd })).toHaveLength(20);
});
