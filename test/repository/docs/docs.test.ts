import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readApi } from '../../../scripts/docs/api.ts';
import { region, renderPage } from '../../../scripts/docs/blocks.ts';
import { PAGES } from '../../../scripts/docs/pages.ts';
import { ROOT } from '../../../scripts/step.ts';

test('there are pages', () => {
  expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'docs/errors.md']));
});

test.each(PAGES)('%s shows the examples as they are (npm run docs)', async (page) => {
  expect(await renderPage(read(page))).toBe(read(page));
});

test.each(PAGES)('every link of %s leads somewhere', (page) => {
  expect(linksOf(page).filter((link) => !resolves(page, link))).toEqual([]);
});

test.each(PAGES.filter((page) => page.startsWith('docs/')))('code in %s comes from examples', (page) => {
  const written = read(page).replaceAll(/<!-- (snippet|output|generated): .*?<!-- \/\1 -->/gs, '');
  expect([...written.matchAll(/^```(\w*)$/gm)].map((fence) => fence[1])).not.toContain('ts');
});

test('every public export has a doc comment', () => {
  const undocumented = readApi().flatMap(({ entry, exports }) =>
    exports.filter(({ doc }) => doc === '').map(({ name }) => `${entry}: ${name}`),
  );
  expect(undocumented).toEqual([]);
});

test('every page of docs/ is in its index', () => {
  const pages = PAGES.filter((page) => /^docs\/(?!README)/.test(page)).map((page) =>
    page.slice('docs/'.length),
  );
  expect(linksOf('docs/README.md')).toEqual(expect.arrayContaining(pages));
});

test('a region is joined from its parts, without the marks inside it, moved to the left', () => {
  const source = [
    '  // #region a',
    '  one',
    '  // #region b',
    '    two',
    '  // #endregion',
    '  // #endregion',
  ];
  const again = ['// #region a', 'three', '// #endregion'];
  expect(region([...source, ...again].join('\n'), 'a', 'x.ts')).toBe('one\n  two\n\nthree');
  expect(region(source.join('\n'), 'b', 'x.ts')).toBe('two');
});

test.each([
  ['an unknown region', '// #region a\n// #endregion', 'x.ts has no region nope'],
  ['a region that is not closed', '// #region nope', 'x.ts: region nope is not closed'],
  ['an end without a start', '// #endregion', 'x.ts: an #endregion without its #region'],
])('%s is named', (_, source, message) => {
  expect(() => region(source, 'nope', 'x.ts')).toThrow(message);
});

function linksOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((link) => String(link[1]));
}

/** Links to elsewhere are not followed; an anchor must be a heading of the page it leads to. */
function resolves(page: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [path, anchor] = link.split('#') as [string, string | undefined];
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    String(heading)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}
