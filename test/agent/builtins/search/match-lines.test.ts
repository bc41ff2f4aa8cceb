import { expect, test } from 'vitest';
import { matchLines } from '../../../../src/agent/builtins/search/grep-files.ts';
import { compiled } from '../compiled.ts';

/** Matching lines as `1:`, others as `1-`. */
function shown(text: string, expression: RegExp, before = 0, after = 0): string {
  const { lines, count } = matchLines(text, { ...compiled(expression), before, after });
  return `${count}| ${lines.map(({ line, text: it, isMatch }) => `${line}${isMatch ? ':' : '-'}${it}`).join(' ')}`;
}

test.each<[string, string, string]>([
  ['each line once', shown('aa\nb\na', /a/), '2| 1:aa 3:a'],
  ['ends of lines', shown('ab\r\nb\n', /b$/), '2| 1:ab 2:b'],
  ['no line after the last line end', shown('a\n', /^$/), '0| '],
  ['empty lines', shown('a\n\nb', /^$/), '1| 2:'],
  ['lines before', shown('1\n2\n3\n4', /3/, 1), '1| 2-2 3:3'],
  ['lines after, overlapping', shown('a\nb\na\nc\nd', /a/, 0, 1), '2| 1:a 2-b 3:a 4-c'],
  ['a match beside a match', shown('a\na\nb', /a/, 1, 1), '2| 1:a 2:a 3-b'],
  ['a match over lines', shown('x\nab\ncd\ny', /b.c/gms), '2| 2:ab 3:cd'],
  ['a match with the line end', shown('a\nb\nc', /a\n/gms), '1| 1:a'],
  ['two matches in one line', shown('a a\nb', /a/gms), '1| 1:a a'],
  ['matches of nothing', shown('a\nb\n', /x*/gms), '2| 1:a 2:b'],
  ['ends of lines in a text as a whole', shown('ab\r\nb\r\n', /b$/gms), '2| 1:ab 2:b'],
  ['a match that reaches the end', shown('a\nb\nc\n', /b.*/gms), '2| 2:b 3:c'],
])('%s', (_, actual, expected) => {
  expect(actual).toBe(expected);
});
