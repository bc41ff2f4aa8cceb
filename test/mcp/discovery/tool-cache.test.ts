import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileToolCache } from '../../../src/mcp/discovery/tool-cache.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const tool = (name: string): ListedTool => ({ name, description: 'd', inputSchema: { type: 'object' } });
let root = '';
let directory = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'catalogue-'));
  directory = join(root, 'deep', 'catalogue');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The path of the only file in the directory. */
async function file(): Promise<string> {
  const [name = ''] = await readdir(directory);
  return join(directory, name);
}

async function store(key: string, tools: readonly ListedTool[], now?: () => number): Promise<void> {
  const catalogue = fileToolCache(directory, now);
  catalogue.remember(key, tools);
  await catalogue.flush();
}

test('tools stored by one process are read by another, without annotations', async () => {
  await store('k', [
    { ...tool('a'), annotations: { readOnlyHint: true }, _meta: { m: 1 } },
    tool('__proto__'),
  ]);
  const next = fileToolCache(directory);
  expect(await next.recall('k')).toEqual([{ ...tool('a'), _meta: { m: 1 } }, tool('__proto__')]);
  expect(await next.recall('other')).toBeUndefined();
});

test('annotations are not written', async () => {
  const annotations = { readOnlyHint: true, title: 'claim' };
  await store('k', [{ ...tool('a'), annotations }]);
  const held = JSON.parse(await readFile(await file(), 'utf8'));
  expect(held.tools).toEqual([tool('a')]);
});

test('the file is private and does not contain the key', async () => {
  await store('secret-key', [tool('a')]);
  const path = await file();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(await readFile(path, 'utf8')).not.toContain('secret-key');
  expect(path).not.toContain('secret-key');
  expect(path).toMatch(/[0-9a-f]{64}\.json$/);
});

test('annotations in a file are ignored', async () => {
  await store('k', [tool('a')]);
  const path = await file();
  const held = JSON.parse(await readFile(path, 'utf8'));
  const forged = { ...tool('a'), annotations: { readOnlyHint: true } };
  await writeFile(path, JSON.stringify({ ...held, tools: [forged, 7, { name: 'b', inputSchema: 'x' }] }));
  expect(await fileToolCache(directory).recall('k')).toEqual([tool('a')]);
});

test.each([
  ['no JSON', 'x'],
  ['another format', '{"format":99,"at":1,"tools":[]}'],
  ['no list', '{"format":1,"at":1,"tools":{}}'],
  ['no time', '{"format":1,"tools":[]}'],
  ['a time to come', `{"format":1,"at":${Date.now() + DAY_MS},"tools":[]}`],
  ['too much', 'x'.repeat(8 * 2 ** 20 + 1)],
])('a file with %s is ignored and replaced', async (_, text) => {
  await store('k', [tool('a')]);
  const path = await file();
  await writeFile(path, text);
  expect(await fileToolCache(directory).recall('k')).toBeUndefined();
  await store('k', [tool('b')]);
  expect(await fileToolCache(directory).recall('k')).toEqual([tool('b')]);
  expect(await readdir(directory)).toHaveLength(1);
});

test('a list that is too large is not stored, and the previous one is removed', async () => {
  await store('k', [tool('a')]);
  await store('k', [{ ...tool('a'), description: 'x'.repeat(8 * 2 ** 20) }]);
  expect(await readdir(directory)).toEqual([]);
});

test('an unchanged list is written once a day', async () => {
  let now = 10 * DAY_MS;
  const at = async () => JSON.parse(await readFile(await file(), 'utf8')).at;
  await store('k', [tool('a')], () => now);
  now += 1_000;
  const catalogue = fileToolCache(directory, () => now);
  await catalogue.recall('k');
  catalogue.remember('k', [tool('a')]);
  await catalogue.flush();
  expect(await at()).toBe(10 * DAY_MS);
  now += DAY_MS;
  catalogue.remember('k', [tool('a')]);
  await catalogue.flush();
  expect(await at()).toBe(now);
});

test('tools not used for a month are ignored, and their file is removed', async () => {
  const start = Date.now();
  await store('old', [tool('a')]);
  const path = await file();
  expect(await fileToolCache(directory, () => start + 31 * DAY_MS).recall('old')).toBeUndefined();
  await utimes(path, 1, 1);
  await store('new', [tool('b')]);
  expect(await readdir(directory)).toHaveLength(1);
  expect(await file()).not.toBe(path);
});

test('only cache files are removed, however old others are', async () => {
  await store('old', [tool('a')]);
  const own = await file();
  const left = `${own}.0f8fad5b-d9cb-469f-a165-70867728950e`;
  const others = [
    'thesis.txt',
    `${'a'.repeat(64)}.json.bak`,
    `x${'a'.repeat(64)}.json`,
    `${'a'.repeat(63)}.json`,
  ];
  for (const name of others) await writeFile(join(directory, name), 'x');
  await writeFile(left, '{');
  await mkdir(join(directory, `${'b'.repeat(64)}.json`));
  for (const name of await readdir(directory)) await utimes(join(directory, name), 1, 1);
  const fresh = `${own}.7c9e6679-7425-40de-944b-e07fc1f90ae7`;
  await writeFile(fresh, '{');
  await store('new', [tool('b')]);
  const kept = await readdir(directory);
  expect(kept).toEqual(expect.arrayContaining([...others, `${'b'.repeat(64)}.json`, basename(fresh)]));
  expect(kept).not.toContain(basename(own));
  expect(kept).not.toContain(basename(left));
  expect(kept).toHaveLength(others.length + 3);
});

test('without write access nothing is stored and nothing fails', async () => {
  await chmod(root, 0o500);
  await writeFile(join(root, 'deep'), '').catch(() => {});
  await store('k', [tool('a')]).finally(() => chmod(root, 0o700));
  await rm(join(root, 'deep'), { recursive: true, force: true });
  await writeFile(join(root, 'deep'), 'a file where a directory should be');
  await store('k', [tool('a')]);
  expect(await fileToolCache(directory).recall('k')).toBeUndefined();
});
