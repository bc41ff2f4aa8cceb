import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FileWatcher } from '../../../src/config/watch/file-watcher.ts';

/** A directory, and a watcher of files in it that counts its reports. */
function watched(...names: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-watch-'));
  const paths = names.map((name) => join(directory, name));
  writeFileSync(join(directory, 'there.json'), '1');
  let next = Promise.withResolvers<void>();
  let heard = 0;
  const watch = new FileWatcher(paths, Date.now() + 1_000, () => {
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

describe('file watcher', () => {
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

  test('reports a file in a directory that is created first', async () => {
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

  test('reports several steps once, and ignores other files', async () => {
    const { directory, news, heard } = watched('there.json');
    const told = news();
    writeFileSync(join(directory, 'other.json'), '1');
    for (let step = 0; step < 20; step++) writeFileSync(join(directory, 'there.json'), `${step}`);
    await told;
    expect(heard()).toBe(1);
  });

  test('reports writes between reading and watching', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-watch-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(directory, 'file.json');
    const readAt = Date.now() - 1;
    writeFileSync(path, '1');
    const { promise, resolve } = Promise.withResolvers<void>();
    using _watch = new FileWatcher([path], readAt, resolve);
    await promise;
  });

  describe('a file behind symbolic links', () => {
    const LINKS: Record<string, (directory: string) => void> = {
      'a link': (it) => symlinkSync(join(it, 'far/real.json'), join(it, 'near/file.json')),
      'a relative link': (it) => symlinkSync('../far/real.json', join(it, 'near/file.json')),
      'two links': (it) => {
        mkdirSync(join(it, 'half'));
        symlinkSync('../far/real.json', join(it, 'half/way.json'));
        symlinkSync('../half/way.json', join(it, 'near/file.json'));
      },
      'a directory that is a link': (it) => {
        rmSync(join(it, 'near'), { recursive: true });
        writeFileSync(join(it, 'far/file.json'), '1');
        symlinkSync('far', join(it, 'near'));
      },
    };
    function linked(link: (directory: string) => void, prepare: (directory: string) => void = () => {}) {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), 'toolplane-watch-')));
      for (const name of ['near', 'far']) mkdirSync(join(directory, name));
      writeFileSync(join(directory, 'far/real.json'), '1');
      link(directory);
      prepare(directory);
      const { promise, resolve } = Promise.withResolvers<void>();
      const watch = new FileWatcher([join(directory, 'near/file.json')], Date.now() + 1_000, resolve);
      onTestFinished(() => {
        watch[Symbol.dispose]();
        rmSync(directory, { recursive: true, force: true });
      });
      return { directory, news: promise };
    }

    test.each(Object.entries(LINKS))('tells that the file behind %s was replaced', async (_, link) => {
      const { directory, news } = linked(link);
      for (const name of ['real.json', 'file.json']) {
        writeFileSync(join(directory, 'next'), '22');
        renameSync(join(directory, 'next'), join(directory, 'far', name));
      }
      await news;
    });

    test('reports that a link has a new target', async () => {
      const { directory, news } = linked(
        (it) => symlinkSync('../far/real.json', join(it, 'near/file.json')),
        (it) => writeFileSync(join(it, 'far/other.json'), '22'),
      );
      symlinkSync('../far/other.json', join(directory, 'near/next'));
      renameSync(join(directory, 'near/next'), join(directory, 'near/file.json'));
      await news;
    });

    test('reports that the directory behind a link was replaced', async () => {
      const { directory, news } = linked(
        (it) => {
          rmSync(join(it, 'near'), { recursive: true });
          writeFileSync(join(it, 'far/file.json'), '1');
          symlinkSync('far', join(it, 'near'));
        },
        (it) => {
          mkdirSync(join(it, 'farther'));
          writeFileSync(join(it, 'farther/file.json'), '22');
        },
      );
      symlinkSync('farther', join(directory, 'next'));
      renameSync(join(directory, 'next'), join(directory, 'near'));
      await news;
    });

    test('reports a new target of a broken link, and tolerates a circular link', async () => {
      const { directory, news } = linked(
        (it) => symlinkSync('../later/file.json', join(it, 'near/file.json')),
        (it) => symlinkSync('circle', join(it, 'near/circle')),
      );
      mkdirSync(join(directory, 'later'));
      writeFileSync(join(directory, 'later/file.json'), '1');
      await news;
      using _watch = new FileWatcher([join(directory, 'near/circle')], Date.now(), () => {});
    });
  });

  test.each<[string, (directory: string) => void]>([
    ['removed and made anew', (it) => rmSync(it, { recursive: true })],
    ['moved away', (it) => renameSync(it, `${it}-old`)],
  ])('reports files in a directory that was %s', async (_, remove) => {
    const { directory, news } = watched('there.json', 'deep/file.json');
    const deep = join(directory, 'deep');
    for (const content of ['1', '22', '333']) {
      const replaced = news();
      if (content !== '1') remove(deep);
      mkdirSync(deep, { recursive: true });
      writeFileSync(join(deep, 'file.json'), content);
      await replaced;
      const written = news();
      writeFileSync(join(deep, 'file.json'), `${content}, and more`);
      await written;
      rmSync(`${deep}-old`, { recursive: true, force: true });
    }
  });

  test('reports a file in a directory with constant changes', async () => {
    const { directory, news } = watched('there.json');
    let count = 0;
    const busy = setInterval(() => writeFileSync(join(directory, 'log'), `${count++}`), 10);
    onTestFinished(() => clearInterval(busy));
    const told = news();
    writeFileSync(join(directory, 'there.json'), '22');
    await told;
  });

  test('reports nothing after disposal', async () => {
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
