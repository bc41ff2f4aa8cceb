import { describe, expect, test } from 'vitest';
import { Fields, parseFrontmatter, splitTexts } from '../../../src/base/text/frontmatter.ts';

const fieldsOf = (...lines: string[]) => {
  const { fields, problems } = parseFrontmatter(['---', ...lines, '---', 'Body'].join('\n'));
  return { values: Object.fromEntries([...fields].map(([name, { value }]) => [name, value])), problems };
};

describe('frontmatter', () => {
  test.each<[string, string[], unknown]>([
    ['plain text with a colon', ['a: Use this: always # a comment'], 'Use this: always'],
    ['double quotes', ['a: "x: \\"y\\"\\n" # c'], 'x: "y"\n'],
    ['single quotes', ["a: 'it''s # no comment'"], "it's # no comment"],
    ['a flag', ['a: True'], true],
    ['a number', ['a: 12'], 12],
    ['nothing', ['a:'], null],
    ['a list in brackets', ['a: [Read, "b, c", Bash(x y)]'], ['Read', 'b, c', 'Bash(x y)']],
    ['two hints in brackets, which are no list', ['a: [who] [what]'], '[who] [what]'],
    ['a list of lines', ['a:', '  - Read', '- "Bash(a, b)"', '  # c'], ['Read', 'Bash(a, b)']],
    ['a text over two lines', ['a: one', '  two'], 'one two'],
    ['a block that keeps its lines', ['a: |', '  one', '    two', '', '  three'], 'one\n  two\n\nthree'],
    ['a block that joins its lines', ['a: >-', '  one', '  two', '', '  three'], 'one two\n\nthree'],
  ])('%s', (_, lines, value) => {
    expect(fieldsOf(...lines)).toEqual({ values: { a: value }, problems: [] });
  });

  test('the body begins after the frontmatter, and a file without one is all body', () => {
    expect(parseFrontmatter('\uFEFF---\r\na: b\r\n---\r\n\r\n# T\r\n').body).toBe('# T\n');
    expect(parseFrontmatter('\n\n--- no\ntext').body).toBe('--- no\ntext');
  });

  test('what cannot be read is a problem with its line, and the rest is used', () => {
    const { values, problems } = fieldsOf(
      'a: 1',
      'hooks:',
      '  Stop:',
      '    - x: y',
      'nonsense',
      'a: 2',
      'b: c',
    );
    expect(values).toEqual({ a: 2, b: 'c' });
    expect(problems.map(({ line }) => line)).toEqual([3, 6, 7]);
  });

  test('without a closing fence the whole file is the body', () => {
    const { fields, body, problems } = parseFrontmatter('---\na: b\nText');
    expect({ size: fields.size, body, lines: problems.map(({ line }) => line) }).toEqual({
      size: 0,
      body: '---\na: b\nText',
      lines: [1],
    });
  });
});

test('texts are split at commas outside of quotes and parentheses', () => {
  expect(splitTexts('Read, Bash(git add:*, x), "a, b",, c')).toEqual([
    'Read',
    'Bash(git add:*, x)',
    '"a, b"',
    'c',
  ]);
});

test('fields report wrong values and unknown names with their lines', () => {
  const text = ['---', 'flag: maybe', 'count: 0', 'word: z', 'other: 1', 'known: 2', '---'].join('\n');
  const fields = new Fields(parseFrontmatter(text));
  expect([fields.flag('flag'), fields.count('count'), fields.word('word', ['x', 'y'])]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  fields.ignore('known');
  fields.reportUnknown();
  expect(fields.problems).toEqual([
    { line: 2, message: '"flag" must be true or false' },
    { line: 3, message: '"count" must be a whole number above 0' },
    { line: 4, message: '"word" must be one of x, y' },
    { line: 5, message: '"other" is not a known field' },
  ]);
});
