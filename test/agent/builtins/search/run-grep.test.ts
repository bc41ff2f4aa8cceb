import { describe, expect, test } from 'vitest';
import { GREP } from '../../../../src/agent/builtins/search/grep.ts';
import type { GrepJob } from '../../../../src/agent/builtins/search/grep-files.ts';
import { runGrep, siblingModule } from '../../../../src/agent/builtins/search/run-grep.ts';
import { directoryWith, failed, worldIn } from '../built-in-world.ts';

describe('run grep', () => {
  /** Each match takes linear time, but on a long line each of 300,000 matches scans the rest of the line. */
  const ENDLESS = 'a.*z|a';
  const LINE = 'a'.repeat(300_000);

  function job(files: readonly string[], parts: Partial<GrepJob> = {}): GrepJob {
    const enough = { of: 'lines', count: 10 } as const;
    const options = { ignoreCase: false, multiline: true, before: 0, after: 0, largestFile: 1_000_000 };
    return { source: ENDLESS, ...options, files, enough, ...parts };
  }

  test('a search that takes too long is ended by the time limit, and what was found before is kept', async () => {
    const cwd = directoryWith({ a: 'aa', b: LINE });
    const { signal } = new AbortController();
    expect(await runGrep(job([`${cwd}/a`, `${cwd}/b`]), 3000, signal)).toEqual({
      hits: [
        {
          kind: 'hit',
          path: `${cwd}/a`,
          count: 1,
          lines: [{ line: 1, text: 'aa', isMatch: true, column: 1 }],
        },
      ],
      tooLarge: 0,
      timedOut: true,
    });
  });

  test('a long search does not block other work, and an abort ends it', async () => {
    const world = worldIn(directoryWith({ a: LINE }));
    const abort = new AbortController();
    const running = GREP.run({ pattern: ENDLESS, multiline: true }, world, abort.signal);
    const turns = await new Promise<number>((resolve) => {
      let count = 0;
      const turn = () => (++count === 1000 ? resolve(count) : setImmediate(turn));
      turn();
    });
    abort.abort();
    expect(await running).toEqual(failed('Grep was interrupted'));
    expect(turns).toBe(1000);
  });

  test('files that are too large are counted, and missing files are skipped', async () => {
    const cwd = directoryWith({ large: 'a'.repeat(101) });
    const { signal } = new AbortController();
    expect(await runGrep(job([`${cwd}/large`, `${cwd}/gone`], { largestFile: 100 }), 20_000, signal)).toEqual(
      {
        hits: [],
        tooLarge: 1,
        timedOut: false,
      },
    );
  });

  test('the search stops when it has enough', async () => {
    const cwd = directoryWith({ a: 'aa', b: 'aa', c: LINE });
    const { signal } = new AbortController();
    const files = ['a', 'b', 'c'].map((name) => `${cwd}/${name}`);
    const { hits } = await runGrep(job(files, { enough: { of: 'files', count: 2 } }), 20_000, signal);
    expect(hits.map(({ path }) => path)).toEqual(files.slice(0, 2));
  });

  test('without the file of the worker the same search runs in this thread', async () => {
    const cwd = directoryWith({ a: 'aa', b: 'b', large: 'a'.repeat(101), c: 'xa' });
    const { signal } = new AbortController();
    const here = job(
      ['a', 'b', 'large', 'c', 'gone'].map((name) => `${cwd}/${name}`),
      { largestFile: 100 },
    );
    const inThread = await runGrep(here, 20_000, signal, null);
    expect(inThread).toMatchObject({ hits: [{ path: `${cwd}/a` }, { path: `${cwd}/c` }], tooLarge: 1 });
    expect(inThread).toEqual(await runGrep(here, 20_000, signal));
    await expect(runGrep(job([], { source: '(' }), 20_000, signal, null)).rejects.toThrow('missing');
    const abort = new AbortController();
    const running = runGrep(here, 20_000, abort.signal, null);
    abort.abort();
    await expect(running).rejects.toThrow('aborted');
  });

  test.each([
    ['file:///p/src/run-grep.ts', 'file:///p/src/grep-worker.ts'],
    ['file:///p/dist/run-grep.js', 'file:///p/dist/grep-worker.js'],
  ])('the thread of %s is %s', (here, expected) => {
    expect(siblingModule(here, 'grep-worker').href).toBe(expected);
  });

  test('a pattern that makes a regular expression backtrack is searched for at once', async () => {
    const world = worldIn(directoryWith({ a: `${'a'.repeat(100_000)}!` }));
    const { signal } = new AbortController();
    expect(await GREP.run({ pattern: '^(a+)+$' }, world, signal)).toMatchObject({
      content: 'No files found',
    });
  });
});
