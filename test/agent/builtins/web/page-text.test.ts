import { expect, test } from 'vitest';
import { pageText } from '../../../../src/agent/builtins/web/page-text.ts';

const BASE = 'https://example.com/docs/';

test.each([
  [
    'headings and paragraphs',
    '<h1>One</h1><p>a <b>b</b>\n c</p><h2>Two</h2><p>d</p>',
    '# One\n\na **b** c\n\n## Two\n\nd',
  ],
  ['the title, if no heading comes first', '<title>T</title><p>a</p>', '# T\n\na'],
  [
    'links with complete addresses',
    '<a href="../x">x</a> <a href="#y">y</a>',
    '[x](https://example.com/x) y',
  ],
  ['no links that run something', '<a href="javascript:alert(1)">x</a>', 'x'],
  ['lists', '<ul><li>a<li>b<ol><li>c</ol></ul>', '- a\n- b\n  1. c'],
  ['code as it is', '<pre>a\n  b &lt; c</pre><code>d</code>', '```\na\n  b < c\n```\n\n`d`'],
  ['tables by row', '<table><tr><th>a<th>b<tr><td>1<td>2</table>', '| a | b\n\n| 1 | 2'],
  ['neither scripts nor styles', '<script>x()</script><style>p{}</style><p>a</p>', 'a'],
  [
    'nothing that readers do not see',
    '<p hidden>1</p><p style="display: none">2</p><p aria-hidden="true">3</p><p>a</p><!-- 4 -->',
    'a',
  ],
])('it has %s', async (_, html, text) => {
  expect(await pageText(html, BASE)).toBe(text);
});

test('a page of any depth and any length is converted in bounded time', async () => {
  const deep = `${'<div>'.repeat(100_000)}x`;
  expect(await pageText(deep, BASE)).toBe('');
  const long = '<p>word</p>'.repeat(50_000);
  expect((await pageText(long, BASE)).length).toBeGreaterThan(200_000);
});
