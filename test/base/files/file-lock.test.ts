import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { withExclusiveLock, withFileLock } from '../../../src/base/files/file-lock.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';

test('holds the lock file during the work and removes it afterwards, also after a failure', async () => {
  const path = join(await temporaryRoot(), 'lock');
  expect(withFileLock(path, () => existsSync(path))).toBe(true);
  expect(() =>
    withFileLock(path, () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['of a process that is no more', (pid: number) => `${pid} ${hostname()} ${randomUUID()}`, 60_000],
  ['without a holder, after a while', () => '', 50],
])(
  'a lock %s is taken over',
  async (_, text, staleMs) => {
    const root = await temporaryRoot();
    const path = join(root, 'lock');
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    writeFileSync(path, text(child.pid as number));
    expect(withFileLock(path, () => readFileSync(path, 'utf8'), staleMs)).toMatch(
      new RegExp(`^${process.pid} `),
    );
    expect(readdirSync(root)).toEqual([]);
  },
  20_000,
);

test.each([
  ['empty', ''],
  ['filled with zeros', '\0'.repeat(60)],
])('a lock that is %s is taken over sooner than one held by a process', async (_, text) => {
  const path = join(await temporaryRoot(), 'lock');
  writeFileSync(path, text);
  expect(withFileLock(path, () => 7, 20_000)).toBe(7);
  expect(existsSync(path)).toBe(false);
});

test('processes that find a stale lock run one at a time', async () => {
  const root = await temporaryRoot();
  writeFileSync(join(root, 'count'), '0');
  const module = new URL('../../../src/base/files/file-lock.ts', import.meta.url).href;
  const program = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { hostname } from 'node:os';
    import { withExclusiveLock, withFileLock } from '${module}';
    for (let round = 0; round < 60; round++) {
      const left = '4194304 ' + hostname() + ' 00000000-0000-4000-8000-' + String(round).padStart(12, '0');
      if (round % 3 === 0) try { writeFileSync('lock', left, { flag: 'wx' }); } catch {}
      withFileLock('lock', () => writeFileSync('count', String(Number(readFileSync('count', 'utf8')) + 1)));
    }`;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: root, stdio: 'inherit' }),
  );
  await Promise.all(children.map((child) => once(child, 'exit')));
  expect([readFileSync(join(root, 'count'), 'utf8'), readdirSync(root)]).toEqual(['240', ['count']]);
});

test('runs the work without a lock if none can be created', async () => {
  expect(withFileLock(join(await temporaryRoot(), 'none', 'lock'), () => 7)).toBe(7);
});

test('work that lost its lock while it ran replaces no file and is repeated', async () => {
  const root = await temporaryRoot();
  const [path, file] = [join(root, 'lock'), join(root, 'file')];
  writeFileSync(file, 'first');
  const found: string[] = [];
  withFileLock(path, (replace) => {
    found.push(readFileSync(file, 'utf8'));
    if (found.length === 1) {
      rmSync(path);
      withFileLock(path, (replaceAsOther) => replaceAsOther(file, 'other'));
    }
    replace(file, `${found.at(-1)} and more`);
  });
  expect(found).toEqual(['first', 'other']);
  expect(readFileSync(file, 'utf8')).toBe('other and more');
  let runs = 0;
  const losing = () =>
    withFileLock(path, (replace) => {
      runs++;
      rmSync(path);
      replace(file, 'lost');
    });
  expect(losing).toThrow(`other processes took the lock ${path} because writing took too long; try again`);
  expect([runs, readdirSync(root)]).toEqual([5, ['file']]);
});

test('the lock of a running process is not taken over while a slow disk delays it', async () => {
  const root = await temporaryRoot();
  const module = new URL('../../../src/base/files/file-lock.ts', import.meta.url).href;
  const program = `
    import { withFileLock } from '${module}';
    withFileLock('lock', (replace) => {
      process.stdout.write('started');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
      replace('file', 'slow');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as Readable, 'data');
  expect(withFileLock(join(root, 'lock'), () => readFileSync(join(root, 'file'), 'utf8'))).toBe('slow');
  await once(child, 'exit');
}, 30_000);

test('does not remove a lock that another process has taken', async () => {
  const path = join(await temporaryRoot(), 'lock');
  withFileLock(path, () => writeFileSync(path, 'theirs'));
  expect(readFileSync(path, 'utf8')).toBe('theirs');
});

test.each<[string, (path: string) => void]>([
  ['a directory', (path) => mkdirSync(path)],
  ['a link', (path) => symlinkSync('elsewhere', path)],
  ['a file of others', (path) => writeFileSync(path, '{ "packages": {} }')],
  ['a file that is far too big', (path) => writeFileSync(path, '\0'.repeat(100_000))],
])('%s at the path of the lock is reported immediately and kept', async (_, make) => {
  const root = await temporaryRoot();
  const path = join(root, 'lock');
  make(path);
  let isDone = false;
  expect(() => withFileLock(path, () => (isDone = true), 60_000)).toThrow(
    `${path} exists but is not a Toolplane lock file; move or remove it`,
  );
  expect([isDone, readdirSync(root)]).toEqual([false, ['lock']]);
});

test('asynchronous work of several processes runs one at a time, also after one of them was killed', async () => {
  const root = await temporaryRoot();
  writeFileSync(join(root, 'count'), '0');
  const module = new URL('../../../src/base/files/file-lock.ts', import.meta.url).href;
  const program = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { withExclusiveLock } from '${module}';
    const [, root, rounds] = process.argv;
    for (let round = 0; round < Number(rounds); round++) {
      await withExclusiveLock(root + '/locks/one', async () => {
        if (rounds === '1') process.kill(process.pid, 'SIGKILL');
        const count = Number(readFileSync(root + '/count', 'utf8'));
        await new Promise((resolve) => setTimeout(resolve, 1));
        writeFileSync(root + '/count', String(count + 1));
      });
    }`;
  const run = async (rounds: number) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, root, String(rounds)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return (await once(child, 'exit'))[0];
  };
  expect(await run(1)).toBeNull();
  expect(readdirSync(join(root, 'locks'))).toEqual(['one']);
  expect(await Promise.all([run(20), run(20), run(20)])).toEqual([0, 0, 0]);
  expect(readFileSync(join(root, 'count'), 'utf8')).toBe('60');
  expect(readdirSync(join(root, 'locks'))).toEqual([]);
}, 60_000);

test('a wait for asynchronous work ends when it is done, or with the signal', async () => {
  const path = join(await temporaryRoot(), 'lock');
  const over = Promise.withResolvers<void>();
  const first = withExclusiveLock(path, () => over.promise);
  let polls = 0;
  const neverRuns = async () => expect.unreachable();
  expect(await withExclusiveLock(path, neverRuns, { isDone: async () => ++polls === 3 })).toBeUndefined();
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(withExclusiveLock(path, neverRuns, { signal })).rejects.toThrow('stopped');
  over.resolve();
  await first;
  expect(await withExclusiveLock(path, async () => 7, { signal })).toBe(7);
  expect(existsSync(path)).toBe(false);
});

test.concurrent.each([
  ['two hours ago', -7200, hostname()],
  ['two hours ago on another machine', -7200, 'elsewhere'],
  ['in two hours by a wrong clock', 7200, 'elsewhere'],
])(
  'a lock of asynchronous work that was last touched %s is taken over within seconds',
  async (_, seconds, host) => {
    const path = join(await temporaryRoot(), 'lock');
    const touched = Date.now() / 1000 + seconds;
    writeFileSync(path, `1 ${host} ${randomUUID()}`);
    utimesSync(path, touched, touched);
    const signal = AbortSignal.timeout(20_000);
    expect(await withExclusiveLock(path, async () => 7, { signal })).toBe(7);
  },
  30_000,
);

test('a lock whose holder goes on after a suspend of the machine is not taken over', async () => {
  const path = join(await temporaryRoot(), 'lock');
  const order: string[] = [];
  const first = withExclusiveLock(path, async () => {
    utimesSync(path, 0, 0);
    await vi.waitUntil(() => statSync(path).mtimeMs > 0, { timeout: 20_000 });
    order.push('holder');
  });
  await withExclusiveLock(path, async () => order.push('waiter'));
  await first;
  expect(order).toEqual(['holder', 'waiter']);
}, 30_000);
