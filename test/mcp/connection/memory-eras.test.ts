import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileEras } from '../../../src/mcp/connection/file-eras.ts';
import { memoryEras } from '../../../src/mcp/connection/memory-eras.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const legacy = { era: 'legacy' } as const;
const modern = { era: 'modern', discover: { supportedVersions: ['2026-07-28'] } } as const;

describe('a memory of eras', () => {
  test('keeps what it is told until it is told to forget', () => {
    const eras = memoryEras();
    eras.remember('a', legacy);
    eras.remember('b', modern);
    expect([eras.recall('a'), eras.recall('b'), eras.recall('c')]).toEqual([legacy, modern, undefined]);
    eras.remember('a', undefined);
    expect(eras.recall('a')).toBeUndefined();
  });

  test('forgets after a week, also what is found again and again', () => {
    let now = 0;
    const eras = memoryEras(() => now);
    eras.remember('a', legacy);
    now = 6 * DAY_MS;
    eras.remember('a', legacy);
    expect(eras.recall('a')).toEqual(legacy);
    now = 7 * DAY_MS;
    expect(eras.recall('a')).toBeUndefined();
    eras.remember('a', legacy);
    expect(eras.recall('a')).toEqual(legacy);
  });

  test('holds the newest five hundred', () => {
    const eras = memoryEras();
    for (let n = 0; n <= 500; n++) eras.remember(`k${n}`, legacy);
    expect([eras.recall('k0'), eras.recall('k1'), eras.recall('k500')]).toEqual([undefined, legacy, legacy]);
  });
});

describe('a file of eras', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eras-'));
    path = join(folder, 'deep', 'eras.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is read by the next one, and by nobody else', async () => {
    const eras = fileEras(path);
    eras.remember('a', legacy);
    eras.remember('b', modern);
    await eras.flush();
    const next = fileEras(path);
    expect([next.recall('a'), next.recall('b')]).toEqual([legacy, modern]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'deep'))).toEqual(['eras.json']);
  });

  test('is written once for many changes, and not for none', async () => {
    const eras = fileEras(path);
    await eras.flush();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    for (const key of ['a', 'b', 'c']) eras.remember(key, legacy);
    await eras.flush();
    const { mtimeMs } = await stat(path);
    eras.remember('a', legacy);
    await eras.flush();
    expect((await stat(path)).mtimeMs).toBe(mtimeMs);
  });

  test.each([
    ['broken', '{'],
    ['of another format', '{"format":99,"eras":{"a":{"at":1,"verdict":{"era":"legacy"}}}}'],
    ['of another kind', '[]'],
    ['full of nonsense', '{"format":1,"eras":{"a":7,"b":{"at":"x"},"c":{"at":1,"verdict":{"era":"odd"}}}}'],
  ])('that is %s is taken for empty, and written anew', async (_, text) => {
    path = join(folder, 'eras.json');
    await writeFile(path, text);
    const eras = fileEras(path);
    expect(['a', 'b', 'c'].map((key) => eras.recall(key))).toEqual([undefined, undefined, undefined]);
    eras.remember('a', legacy);
    await eras.flush();
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      format: 1,
      eras: { a: { verdict: legacy } },
    });
  });

  test('that cannot be written harms nobody', async () => {
    path = join(folder, 'eras.json', 'under', 'a', 'file');
    await writeFile(join(folder, 'eras.json'), '');
    await chmod(join(folder, 'eras.json'), 0o400);
    const eras = fileEras(path);
    eras.remember('a', legacy);
    await eras.flush();
    expect(eras.recall('a')).toEqual(legacy);
  });
});
