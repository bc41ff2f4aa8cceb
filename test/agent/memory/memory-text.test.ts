import { expect, test } from 'vitest';
import { parseMemory } from '../../../src/agent/memory/memory-text.ts';

test.each<[source: string, imports: string[]]>([
  ['See @a.md and @./b/c.md\n@~/d.md @/e.md @../f.md', ['a.md', './b/c.md', '~/d.md', '/e.md', '../f.md']],
  ['one@example.com, (@a.md) and `@b.md` and ``@c.md ` @d.md``', []],
  ['`open @a.md', ['a.md']],
  ['```\n@a.md\n```\n@b.md\n~~~~\n@c.md\n~~~\n@d.md\n~~~~\n@e.md', ['b.md', 'e.md']],
  ['```ts\n@a.md', []],
  ['@a\\ b.md @c.md#part @a\\ b.md', ['a b.md', 'c.md']],
  ['<!-- @a.md -->\n<!--\n@b.md\n-->\n@c.md', ['c.md']],
  ['@ @# @@', []],
])('imports of %j', (source, imports) => {
  expect(parseMemory(source).imports).toEqual(imports);
});

test.each<[source: string, text: string, paths: string[] | undefined]>([
  ['---\nname: x\n---\nText\n', 'Text', undefined],
  ['---\npaths: "*.css, src/**/*.{ts,tsx}"\n---\nText', 'Text', ['*.css', 'src/**/*.{ts,tsx}']],
  ['---\npaths: [a.md, "b c.md"]\n---\nText', 'Text', ['a.md', 'b c.md']],
  [`---\npaths:\n  - "**/*.css"\n  - 'a b/*'\n  - c\nname: x\n---\nText`, 'Text', ['**/*.css', 'a b/*', 'c']],
  ['--- no frontmatter\npaths: a', '--- no frontmatter\npaths: a', undefined],
  ['\uFEFFa\r\n<!-- note -->\r\nb <!-- kept --> c', 'a\nb <!-- kept --> c', undefined],
  ['```\n<!-- in code -->\n```', '```\n<!-- in code -->\n```', undefined],
  ['visible\u{E0041}\u{E0042}', 'visible', undefined],
])('text and paths of %j', (source, text, paths) => {
  expect(parseMemory(source)).toMatchObject({ text });
  expect(parseMemory(source).paths).toEqual(paths);
});

test('the number of imports of one file is limited', () => {
  const many = Array.from({ length: 500 }, (_, at) => `@f${at}.md`).join('\n');
  expect(parseMemory(many).imports).toHaveLength(100);
});

test.each([`${'`'.repeat(20_000)}`, '` `` '.repeat(5_000), '@a'.repeat(50_000), '<!--'.repeat(20_000)])(
  'hostile text is parsed in time: %#',
  (source) => {
    const since = performance.now();
    parseMemory(source);
    expect(performance.now() - since).toBeLessThan(2_000);
  },
);
