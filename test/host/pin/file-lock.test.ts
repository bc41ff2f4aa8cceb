import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { underLock } from '../../../src/host/pin/file-lock.ts';
import { openPins } from '../../../src/host/pin/open-pins.ts';
import { temporaryRoot } from '../transcript/sessions.ts';
import { tool } from './tools.ts';

const WRITER = fileURLToPath(new URL('fixtures/pin-writer.ts', import.meta.url));

test('the lock is there while the work is done, and gone after it, also if it fails', async () => {
  const path = join(await temporaryRoot(), 'lock');
  expect(underLock(path, () => existsSync(path))).toBe(true);
  expect(() =>
    underLock(path, () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['of a process that is no more', (pid: number) => `${pid} ${hostname()} x`, 60_000],
  ['of nobody knows whom, after a while', () => '', 50],
])(
  'a lock %s is taken over',
  async (_, text, staleMs) => {
    const root = await temporaryRoot();
    const path = join(root, 'lock');
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    writeFileSync(path, text(child.pid as number));
    expect(underLock(path, () => readFileSync(path, 'utf8'), staleMs)).toMatch(
      new RegExp(`^${process.pid} `),
    );
    expect(readdirSync(root)).toEqual([]);
  },
  20_000,
);

test('where no lock can be made the work is done', async () => {
  expect(underLock(join(await temporaryRoot(), 'none', 'lock'), () => 7)).toBe(7);
});

test('a lock that is somebody else’s by now is left', async () => {
  const path = join(await temporaryRoot(), 'lock');
  underLock(path, () => writeFileSync(path, 'theirs'));
  expect(readFileSync(path, 'utf8')).toBe('theirs');
});

test('two processes that write at once lose nothing', async () => {
  const root = await temporaryRoot();
  const writers = ['a', 'b'].map((who) => {
    const child = spawn(process.execPath, [WRITER, root, who], { stdio: ['ignore', 'ignore', 'inherit'] });
    return once(child, 'exit');
  });
  expect((await Promise.all(writers)).map(([code]) => code)).toEqual([0, 0]);
  const seen = ['a', 'b'].flatMap((who) => Array.from({ length: 40 }, (_, n) => `${who}${n}`));
  const changed = seen.map((name) => tool({ name, title: 'x' }));
  const { changes } = openPins(root).observe({ server: 's', place: 'here' }, changed);
  expect(changes.map((it) => it.tool)).toEqual(seen);
  expect(readdirSync(root)).toHaveLength(1);
}, 30_000);
