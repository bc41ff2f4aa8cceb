import fc from 'fast-check';
import { expect, test } from 'vitest';
import { table } from '../../../src/cli/terminal/table.ts';
import { displayWidth } from '../../../src/cli/terminal/terminal-text.ts';

test.each([
  ['no rows', [], {}, []],
  [
    'columns stand below each other',
    [
      ['a', 'one'],
      ['bbb', 'two'],
    ],
    {},
    ['a    one', 'bbb  two'],
  ],
  [
    'figures stand to the right',
    [
      ['a', '1'],
      ['b', '1,000'],
    ],
    { right: [1] },
    ['a      1', 'b  1,000'],
  ],
  [
    'an indent, also one of a cell',
    [
      ['a', 'x'],
      ['  b', 'y'],
    ],
    { indent: 1 },
    [' a    x', '   b  y'],
  ],
  ['the last column is cut', [['ab', 'a long description']], { columns: 14 }, ['ab  a long de…']],
  [
    'but never to nothing',
    [['a'.repeat(20), 'description']],
    { columns: 14 },
    [`${'a'.repeat(20)}  descripti…`],
  ],
  ['nothing trails', [['a', '']], {}, ['a']],
  [
    'wide characters count twice',
    [
      ['日本', 'x'],
      ['abc', 'y'],
      ['👩‍👩‍👧', 'z'],
    ],
    {},
    ['日本  x', 'abc   y', '👩‍👩‍👧    z'],
  ],
  ['wide characters are cut in time', [['a', '日本語の説明です']], { columns: 13 }, ['a  日本語の…']],
  [
    'nothing moves the cursor, breaks a line or hides',
    [['a\u001b[31m', 'b\r\nc\u202ed\u200b']],
    {},
    ['a␛[31m  b c<U+202E>d<U+200B>'],
  ],
  ['rows of one cell are lines', [['one'], ['another']], {}, ['one', 'another']],
])('%s', (_, rows, layout, lines) => {
  expect(table(rows, { columns: undefined, ...layout })).toEqual(lines);
});

test('lines keep their width and contain no control characters', () => {
  const cell = fc.string({ unit: 'binary', maxLength: 30 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell), { maxLength: 5 }),
      fc.integer({ min: 1, max: 60 }),
      (rows, columns) => {
        const names = table(
          rows.map(([it]) => [it]),
          { columns: undefined },
        );
        const widest = Math.max(0, ...names.map(displayWidth));
        for (const line of table(rows, { columns })) {
          expect(line).not.toMatch(/\p{Cc}|\p{Cs}/u);
          expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(columns, widest + 12));
        }
      },
    ),
  );
});
