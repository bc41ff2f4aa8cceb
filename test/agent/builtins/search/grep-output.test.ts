import { describe, expect, test } from 'vitest';
import { numberLines } from '../../../../src/agent/builtins/files/read.ts';
import { matchLines } from '../../../../src/agent/builtins/search/grep-files.ts';
import { contentLines } from '../../../../src/agent/builtins/search/grep-output.ts';
import { compiled } from '../compiled.ts';

describe('grep output', () => {
  /** What is shown of the lines of a text that match. */
  function shown(text: string, expression: RegExp): string[] {
    const rules = { ...compiled(expression), before: 0, after: 0 };
    const hit = { kind: 'hit' as const, path: '/f', ...matchLines(text, rules) };
    return contentLines([hit], () => 'f', { numbers: true, context: false });
  }

  const LINE = `${'x'.repeat(3000)}needle${'y'.repeat(3000)}`;

  test('a long line is shown around its match, with the position for Read', () => {
    expect(shown(`first\n${LINE}\n`, /needle/)).toEqual([
      `f:2:[match at column 3001 of 6006] …${'x'.repeat(100)}needle${'y'.repeat(394)}… [use Read with offset 2 and column 3001]`,
    ]);
    const read = numberLines(`first\n${LINE}\n`, { offset: 2, limit: 1, column: 3001 });
    expect(read).toMatchObject({ text: expect.stringMatching(/^2\tneedleyyy/) });
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
      /^f:1:\[match at column 3001 of 3006\] …x{494}needle… \[use Read/,
    ],
    ['in a short line', 'a needle', /^f:1:a needle$/],
  ])('a match %s', (_, text, expected) => {
    expect(shown(text, /needle/)).toEqual([expect.stringMatching(expected)]);
  });

  test('a match over two lines: the first line is shown from the match on, the second from its beginning', () => {
    const lines = shown(`${'x'.repeat(3000)}needle\r\n${LINE}`, /needle.*?x/gms);
    expect(lines[0]).toContain('match at column 3001');
    expect(lines[1]).toMatch(/^f:2:x{500} \[5506 more characters\]$/);
  });
});
