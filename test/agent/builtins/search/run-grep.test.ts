import { describe, expect, test } from 'vitest';
import { numberLines } from '../../../../src/agent/builtins/files/read.ts';
import { GREP } from '../../../../src/agent/builtins/search/grep.ts';
import type { GrepJob } from '../../../../src/agent/builtins/search/grep-worker.ts';
import { matchLines } from '../../../../src/agent/builtins/search/match-lines.ts';
import { contentLines, runGrep, siblingModule } from '../../../../src/agent/builtins/search/run-grep.ts';
import { directoryWith, failed, worldIn } from '../built-in-world.ts';
import { compiled } from '../compiled.ts';

describe('run grep', () => {
  /** Each match is found in linear time, but on such a line each of 300,000 matches looks at all that follows. */
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

  test('while such a search runs everything else goes on, and an abort ends it', async () => {
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

  test('files that are too large are counted, and those that are gone are passed over', async () => {
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

  test.each([
    ['file:///p/src/run-grep.ts', 'file:///p/src/grep-worker.ts'],
    ['file:///p/dist/run-grep.js', 'file:///p/dist/grep-worker.js'],
  ])('the thread of %s is %s', (here, expected) => {
    expect(siblingModule(here, 'grep-worker').href).toBe(expected);
  });

  test('a pattern that makes a regular expression backtrack is searched for at once', async () => {
    const world = worldIn(directoryWith({ a: `${'a'.repeat(100_000)}!` }));
    const { signal } = new AbortController();
    expect(await GREP.run({ pattern: '^(a+)+$' }, world, signal)).toMatchObject({ content: 'No match' });
  });
});

describe('grep output', () => {
  /** What is shown of the lines of a text that match. */
  function shown(text: string, expression: RegExp): string[] {
    const rules = { ...compiled(expression), before: 0, after: 0 };
    const hit = { kind: 'hit' as const, path: '/f', ...matchLines(text, rules) };
    return contentLines([hit], () => 'f', { numbers: true, context: false });
  }

  const LINE = `${'x'.repeat(3000)}needle${'y'.repeat(3000)}`;

  test('of a long line the match is shown, and where Read finds it', () => {
    expect(shown(`first\n${LINE}\n`, /needle/)).toEqual([
      `f:2:[match at column 3001 of 6006] …${'x'.repeat(100)}needle${'y'.repeat(394)}… [Read it with offset 2 and column 3001]`,
    ]);
    const read = numberLines(`first\n${LINE}\n`, { offset: 2, limit: 1, column: 3001 });
    expect(read).toMatchObject({ text: expect.stringMatching(/^ {5}2\tneedleyyy/) });
  });

  test.each([
    [
      'near the beginning',
      `${'x'.repeat(300)}needle${'y'.repeat(3000)}`,
      /^f:1:x{300}needley+ \[2806 more characters\]$/,
    ],
    [
      'at the end',
      `${'x'.repeat(3000)}needle`,
      /^f:1:\[match at column 3001 of 3006\] …x{494}needle… \[Read/,
    ],
    ['in a short line', 'a needle', /^f:1:a needle$/],
  ])('a match %s', (_, text, expected) => {
    expect(shown(text, /needle/)).toEqual([expect.stringMatching(expected)]);
  });

  test('over lines: the first begins where the match does, the next at its beginning', () => {
    const lines = shown(`${'x'.repeat(3000)}needle\r\n${LINE}`, /needle.*?x/gms);
    expect(lines[0]).toContain('match at column 3001');
    expect(lines[1]).toMatch(/^f:2:x{500} \[5506 more characters\]$/);
  });
});
