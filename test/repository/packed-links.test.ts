import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What `npm pack` puts into the tarball, without what only a build makes. */
function packedFiles(): Set<string> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }));
  return new Set((packed.files as { path: string }[]).map(({ path }) => path));
}

/** The targets of a page's links, images included, that lead to another file of the package. */
function relativeLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const defined = [...prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  const html = [...prose.matchAll(/(?:href|src)="([^"]+)"/g)];
  return [...inline, ...defined, ...html]
    .map(([, target = '']) => target.replace(/[?#].*$/, ''))
    .filter((target) => target !== '' && !/^[a-z][a-z\d+.-]*:/i.test(target));
}

test('every relative link of a packed page leads to a packed file', () => {
  const files = packedFiles();
  const pages = [...files].filter((path) => path.endsWith('.md'));
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/cli.md']));
  const dead = pages.flatMap((page) =>
    relativeLinks(readFileSync(`${ROOT}${page}`, 'utf8'))
      .map((target) => posix.join(posix.dirname(page), target))
      .filter(
        (target) =>
          !files.has(target) && ![...files].some((file) => file.startsWith(`${target.replace(/\/$/, '')}/`)),
      )
      .map(
        (target) =>
          `${page}: ${target}${existsSync(`${ROOT}${target}`) ? ' is not packed' : ' does not exist'}`,
      ),
  );
  expect(dead).toEqual([]);
});

test('links are found in every form that Markdown has', () => {
  const page =
    '[a](a.md) ![b](b.png "t") [c](<c.md#x>) <a href="d.md">\n[e]: e.md\n[f](https://x.example) [g](#g) `[h](h.md)`\n```\n[i](i.md)\n```\n';
  expect(relativeLinks(page)).toEqual(['a.md', 'b.png', 'c.md', 'e.md', 'd.md']);
});
