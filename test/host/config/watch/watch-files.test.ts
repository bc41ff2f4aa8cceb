import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FileWatch } from '../../../../src/host/config/watch/watch-files.ts';

/** A directory, and a watch on files in it that tells how often it heard something. */
function watched(...names: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-watch-'));
  const paths = names.map((name) => join(directory, name));
  writeFileSync(join(directory, 'there.json'), '1');
  let next = Promise.withResolvers<void>();
  let heard = 0;
  const watch = new FileWatch(paths, Date.now() + 1_000, () => {
    heard++;
    next.resolve();
    next = Promise.withResolvers();
  });
  onTestFinished(() => {
    watch[Symbol.dispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, paths, watch, heard: () => heard, news: () => next.promise };
}

describe('a watch on files', () => {
  const CHANGES: Record<string, (directory: string) => void> = {
    'a file is written': (it) => writeFileSync(join(it, 'there.json'), '2'),
    'a file is added to': (it) => appendFileSync(join(it, 'there.json'), '2'),
    'a file is replaced': (it) => {
      writeFileSync(join(it, 'next'), '2');
      renameSync(join(it, 'next'), join(it, 'there.json'));
    },
    'a file goes': (it) => rmSync(join(it, 'there.json')),
    'a file comes': (it) => writeFileSync(join(it, 'absent.json'), '1'),
    'a file comes in a directory that was not there': (it) => {
      mkdirSync(join(it, 'deep/deeper'), { recursive: true });
      writeFileSync(join(it, 'deep/deeper/file.json'), '1');
    },
  };
  test.each(Object.entries(CHANGES))('tells that %s', async (_, change) => {
    const { directory, news } = watched('there.json', 'absent.json', 'deep/deeper/file.json');
    const heard = news();
    change(directory);
    await heard;
  });

  test('tells of a directory that comes first and gets its file later', async () => {
    const { directory, news, heard } = watched('deep/deeper/file.json', 'there.json');
    mkdirSync(join(directory, 'deep/deeper'), { recursive: true });
    const first = news();
    writeFileSync(join(directory, 'there.json'), '2');
    await first;
    expect(heard()).toBe(1);
    const second = news();
    writeFileSync(join(directory, 'deep/deeper/file.json'), '1');
    await second;
  });

  test('tells once of many steps, and nothing of other files', async () => {
    const { directory, news, heard } = watched('there.json');
    const told = news();
    writeFileSync(join(directory, 'other.json'), '1');
    for (let step = 0; step < 20; step++) writeFileSync(join(directory, 'there.json'), `${step}`);
    await told;
    expect(heard()).toBe(1);
  });

  test('tells of what was written between the reading and the watching', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-watch-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(directory, 'file.json');
    const readAt = Date.now() - 1;
    writeFileSync(path, '1');
    const { promise, resolve } = Promise.withResolvers<void>();
    using _watch = new FileWatch([path], readAt, resolve);
    await promise;
  });

  test('is over when it is disposed of', async () => {
    const { directory, watch, heard } = watched('there.json');
    const other = watched('there.json');
    watch[Symbol.dispose]();
    writeFileSync(join(directory, 'there.json'), '2');
    const news = other.news();
    writeFileSync(join(other.directory, 'there.json'), '2');
    await news;
    expect(heard()).toBe(0);
  });
});
