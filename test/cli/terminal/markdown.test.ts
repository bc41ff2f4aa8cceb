import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hunksBetween, parseHunks, showDiff } from '../../../src/cli/terminal/markdown/diff.ts';
import { highlightLine } from '../../../src/cli/terminal/markdown/highlight.ts';
import { inlineSpans } from '../../../src/cli/terminal/markdown/inline.ts';
import { endMarkdown, feedMarkdown, NO_MARKDOWN } from '../../../src/cli/terminal/markdown/markdown.ts';
import { type Piece, renderRows } from '../../../src/cli/terminal/render.ts';
import { displayWidth } from '../../../src/cli/terminal/terminal-text.ts';

const look = { columns: 60, hasColors: false };

function rendered(markdown: string, columns = 60): string[] {
  const { state, pieces } = feedMarkdown(NO_MARKDOWN, markdown);
  return [...pieces, ...endMarkdown(state)].flatMap((piece) =>
    renderRows(piece, { columns, hasColors: false }),
  );
}

describe('markdown', () => {
  test.each<[string, string[]]>([
    ['plain text', ['plain text']],
    ['# Title', ['Title']],
    ['### Part ###', ['Part']],
    ['#no title', ['#no title']],
    ['- one\n* two\n+ three', ['• one', '• two', '• three']],
    ['1. one\n2) two', ['1. one', '2) two']],
    ['  - nested', ['  • nested']],
    ['- [ ] open\n- [x] done', ['☐ open', '☑ done']],
    ['> quoted', ['│ quoted']],
    ['---', ['─'.repeat(24)]],
    ['```ts\nconst a = 1;\n\n```\nafter', ['  const a = 1;', '  ', 'after']],
    ['```\n# no title\n- no list', ['  # no title', '  - no list']],
    ['~~~\n```\n~~~', ['  ```']],
    ['| a | b |\n|---|---|\n| 1 | **two** |', ['a  b', '─  ───', '1  two']],
    ['| not | a table |', ['| not | a table |']],
    ['| a |\n|---|\ntext', ['a', '─', 'text']],
  ])('%j', (markdown, rows) => {
    expect(rendered(markdown)).toEqual(rows);
  });

  test('list items and quotes hang below their first word', () => {
    expect(rendered('- the quick brown fox jumps over', 20)).toEqual([
      '• the quick brown',
      '  fox jumps over',
    ]);
    expect(rendered('> the quick brown fox jumps over', 20)).toEqual([
      '│ the quick brown',
      '│ fox jumps over',
    ]);
  });

  test('a mark after an emphasized word stays with the word', () => {
    expect(rendered('the **quick brown**, fox', 16)).toEqual(['the quick', 'brown, fox']);
  });

  test('text without spaces is broken between its characters, not before punctuation', () => {
    expect(rendered('日本語の文章です。空白がない', 17)).toEqual(['日本語の文章で', 'す。空白がない']);
  });

  test('a long word is left to the terminal, and the text continues after it', () => {
    expect(rendered(`see ${'x'.repeat(30)} for more`, 20)).toEqual(['see', `${'x'.repeat(30)} for more`]);
  });

  test('a table that is too wide is wrapped in its cells', () => {
    const table = '| name | meaning |\n|---|---|\n| first | the quick brown fox jumps over |';
    expect(rendered(table, 24)).toEqual([
      'name   meaning',
      '─────  ────────────────',
      'first  the quick brown',
      '       fox jumps over',
    ]);
  });

  test('columns of a table are aligned as its dashes say, and long words are broken', () => {
    const table = '| name | count | mark |\n|:--|--:|:-:|\n| an_identifier_without_end | 12345 | x |';
    expect(rendered(table, 27)).toEqual([
      'name           count  mark',
      '─────────────  ─────  ────',
      'an_identifier  12345   x',
      '_without_end',
    ]);
  });

  test('a table with too many columns for the width is shown row by row', () => {
    const table = '| name | count | mark |\n|--|--|--|\n| one | 1 | the first of all |\n| two | 2 | |';
    expect(rendered(table, 18)).toEqual([
      'name: one',
      'count: 1',
      'mark: the first',
      '  of all',
      '─────────────────',
      'name: two',
      'count: 2',
      'mark:',
    ]);
  });

  test.each([1, 8, 20, 60])('in a bounded area of %d columns, no row is wider', (columns) => {
    const text = `# ${'head'.repeat(20)}\n- 日本語の文章です。空白がない ${'x'.repeat(90)}\n> ${'q '.repeat(50)}\n| a | b | c |\n|--|--|--|\n| ${'z'.repeat(70)} | 2 | 3 |\n\`\`\`\n${'code '.repeat(40)}\n`;
    const { state, pieces } = feedMarkdown(NO_MARKDOWN, text);
    const bounded = { columns: columns + 1, hasColors: false, isBounded: true };
    for (const row of [...pieces, ...endMarkdown(state)].flatMap((piece) => renderRows(piece, bounded)))
      expect(displayWidth(row)).toBeLessThanOrEqual(Math.max(2, columns));
  });

  test('the pieces are the same in whatever parts the text arrives', () => {
    const text = '# T\n\n- a **b** `c`\n```ts\nlet x = `1\n2`;\n```\n| a | b |\n|--|--|\n| 1 | 2 |\nend';
    const property = fc.property(
      fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 12 }),
      (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        let state = NO_MARKDOWN;
        const pieces: Piece[] = [];
        places.slice(1).forEach((end, index) => {
          const fed = feedMarkdown(state, text.slice(places[index], end));
          state = fed.state;
          pieces.push(...fed.pieces);
        });
        const rows = [...pieces, ...endMarkdown(state)].flatMap((piece) => renderRows(piece, look));
        expect(rows).toEqual(rendered(text));
      },
    );
    fc.assert(property);
  });

  test('a line without end is shown in parts', () => {
    let state = NO_MARKDOWN;
    let length = 0;
    for (let part = 0; part < 100; part += 1) {
      const fed = feedMarkdown(state, 'word '.repeat(200));
      state = fed.state;
      for (const row of fed.pieces.flatMap((piece) => renderRows(piece, look))) length += row.length + 1;
      expect(state.partial.length).toBeLessThan(17_000);
    }
    expect(length).toBeGreaterThan(80_000);
  });

  test('no control character passes', () => {
    const evil = '\u001b[2J\u0007\u202e';
    const all = [
      `# ${evil}`,
      `- ${evil}`,
      `\`${evil}\``,
      '```js',
      `"${evil}"`,
      '```',
      `| ${evil} |`,
      '|--|',
      `[${evil}](x${evil})`,
    ];
    expect(rendered(all.join('\n')).join(' ')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('inline', () => {
  test.each<[string, unknown[]]>([
    [
      'a **b** c',
      [
        ['a ', 'plain'],
        ['b', 'strong'],
        [' c', 'plain'],
      ],
    ],
    [
      '*a* _b_',
      [
        ['a', 'emphasis'],
        [' ', 'plain'],
        ['b', 'emphasis'],
      ],
    ],
    ['`a*b*`', [['a*b*', 'code']]],
    ['snake_case_name', [['snake_case_name', 'plain']]],
    ['mcp__docs__get_page', [['mcp__docs__get_page', 'plain']]],
    ['__a__', [['a', 'strong']]],
    ['2 * 3 * 4', [['2 * 3 * 4', 'plain']]],
    ['**open', [['**open', 'plain']]],
    [
      '\\*a\\*',
      [
        ['*', 'plain'],
        ['a', 'plain'],
        ['*', 'plain'],
      ],
    ],
    ['~~a~~', [['a', 'strike']]],
    [
      '[t](http://x)',
      [
        ['t', 'accent'],
        [' (http://x)', 'dim'],
      ],
    ],
    ['[http://x](http://x)', [['http://x', 'accent']]],
    ['a[0](b', [['a[0](b', 'plain']]],
  ])('%j', (text, spans) => {
    expect(inlineSpans(text)).toEqual(spans);
  });

  test('hostile lines take little time', () => {
    const started = performance.now();
    for (const part of ['**', '`', '_a', '[', '[a](', '~~a', '\\', '*a ', '![a'])
      inlineSpans(part.repeat(Math.floor(4000 / part.length)));
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('highlight', () => {
  test.each<[string, string, unknown[]]>([
    [
      'ts',
      'const a = 1; // one',
      [['const', 'keyword'], ' ', 'a', ' = ', ['1', 'number'], ';', ' ', ['// one', 'comment']],
    ],
    [
      'python',
      "if x: return 'a'",
      [['if', 'keyword'], ' ', 'x', ': ', ['return', 'keyword'], ' ', ["'a'", 'string']],
    ],
    ['json', '{"a": true}', ['{', ['"a"', 'string'], ': ', ['true', 'keyword'], '}']],
    ['sql', 'SELECT 1 -- x', [['SELECT', 'keyword'], ' ', ['1', 'number'], ' ', ['-- x', 'comment']]],
    ['js', '"a\\"b" + c', [['"a\\"b"', 'string'], ' + ', 'c']],
    ['diff', '+added', [['+added', 'added']]],
    ['unknown', 'const a', ['const a']],
  ])('%s: %s', (language, code, spans) => {
    expect(highlightLine(language, code, undefined).spans).toEqual(spans);
  });

  test('comments and strings continue on the next line', () => {
    const first = highlightLine('ts', 'a /* b', undefined);
    const second = highlightLine('ts', 'c */ let', first.state);
    expect(second.spans).toEqual([['c */', 'comment'], ' ', ['let', 'keyword']]);
    expect(second.state).toBeUndefined();
  });

  test('no text is lost', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ts', 'py', 'go', 'sh', 'html', 'sql', 'css'),
        fc.string(),
        (language, code) => {
          const { spans } = highlightLine(language, code, undefined);
          expect(spans.map((span) => (typeof span === 'string' ? span : span[0])).join('')).toBe(code);
        },
      ),
    );
  });
});

describe('diff', () => {
  test('has line numbers and counts', () => {
    const { pieces, added, removed } = showDiff(hunksBetween('a\nb\nc\n', 'a\nB\nc\nd\n'));
    expect(pieces.flatMap((piece) => renderRows(piece, look))).toEqual([
      '    1  a',
      '    2 -b',
      '    2 +B',
      '    3  c',
      '    4 +d',
    ]);
    expect([added, removed]).toEqual([2, 1]);
  });

  test.each([undefined, [], 'x', [{ lines: ['+a'] }], [null]])('%j has no hunks', (value) => {
    expect(parseHunks(value)).toBeUndefined();
  });
});
