import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffHunk, diffLines } from '../../../src/base/text/line-diff.ts';

const NO_NEWLINE = '\\ No newline at end of file';

test('a change is shown with three lines around it; changes further apart are separate hunks', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `${at + 1}`);
  const after = lines.map((line) => (line === '2' || line === '9' || line === '17' ? `${line}!` : line));
  expect(diffLines(`${lines.join('\n')}\n`, `${after.join('\n')}\n`)).toEqual([
    {
      ...{ oldStart: 1, oldLines: 12, newStart: 1, newLines: 12 },
      lines: [' 1', '-2', '+2!', ' 3', ' 4', ' 5', ' 6', ' 7', ' 8', '-9', '+9!', ' 10', ' 11', ' 12'],
    },
    {
      ...{ oldStart: 14, oldLines: 7, newStart: 14, newLines: 7 },
      lines: [' 14', ' 15', ' 16', '-17', '+17!', ' 18', ' 19', ' 20'],
    },
  ]);
});

test.each<[string, string, string, DiffHunk[]]>([
  ['no difference', 'a\n', 'a\n', []],
  [
    'a missing line end',
    'a\nb',
    'a\nb\n',
    [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [' a', '-b', NO_NEWLINE, '+b'] }],
  ],
  [
    'an insertion',
    'a\nb\n',
    'a\nx\nb\n',
    [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 3, lines: [' a', '+x', ' b'] }],
  ],
  [
    'everything removed',
    'a\nb\n',
    '',
    [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 0, lines: ['-a', '-b'] }],
  ],
])('%s', (_, before, after, hunks) => {
  expect(diffLines(before, after)).toEqual(hunks);
});

test('the hunks turn the old text into the new one', () => {
  const content = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(content, content, (before, after) => {
      expect(patched(before, diffLines(before, after))).toBe(after);
    }),
    { numRuns: 500 },
  );
});

test('texts without common lines are replaced as a whole, in linear time', () => {
  const numbered = (mark: string) => Array.from({ length: 20_000 }, (_, at) => `${mark}${at}\n`).join('');
  const [hunk, ...more] = diffLines(numbered('a'), `${numbered('b')}end\n`);
  expect(more).toEqual([]);
  expect(hunk).toMatchObject({ oldStart: 1, oldLines: 20_000, newStart: 1, newLines: 20_001 });
});

/** Applies hunks as `patch` does. */
function patched(before: string, hunks: readonly DiffHunk[]): string {
  const old = before.split(/(?<=\n)/).filter((line) => line !== '');
  const output: string[] = [];
  let at = 0;
  for (const { oldStart, oldLines, newLines, lines } of hunks) {
    output.push(...old.slice(at, oldStart - 1));
    const shown = lines.flatMap((line, index) => {
      if (line === NO_NEWLINE) return [];
      return [{ mark: line[0], text: line.slice(1) + (lines[index + 1] === NO_NEWLINE ? '' : '\n') }];
    });
    expect(shown.filter(({ mark }) => mark !== '+').map(({ text }) => text)).toEqual(
      old.slice(oldStart - 1, oldStart - 1 + oldLines),
    );
    const added = shown.filter(({ mark }) => mark !== '-').map(({ text }) => text);
    expect(added).toHaveLength(newLines);
    output.push(...added);
    at = oldStart - 1 + oldLines;
  }
  return [...output, ...old.slice(at)].join('');
}
