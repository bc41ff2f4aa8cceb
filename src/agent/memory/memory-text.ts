import { stripHidden } from '../../pool/pinning/hidden-text.ts';

/** A memory file, parsed: the text for the model, the files that it imports, and the paths that it is limited to. */
export type MemoryText = {
  /** Without frontmatter, without comments that stand alone, and without invisible characters. */
  readonly text: string;
  /** The paths behind `@`, as written, in order; each once. */
  readonly imports: readonly string[];
  /** The patterns of `paths:` in the frontmatter; undefined without that key. */
  readonly paths?: readonly string[];
};

/** The most imports of one file that are looked up. */
const MAX_IMPORTS = 100;

export function parseMemory(source: string): MemoryText {
  const { frontmatter, body } = splitFrontmatter(source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  const text = stripHidden(withoutComments(body)).trim();
  const paths = pathsOf(frontmatter);
  return { text, imports: findImports(text), ...(paths && { paths }) };
}

function splitFrontmatter(source: string): { readonly frontmatter: string; readonly body: string } {
  const [whole, frontmatter] = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(source) ?? [];
  if (whole === undefined) return { frontmatter: '', body: source };
  return { frontmatter: frontmatter ?? '', body: source.slice(whole.length) };
}

/** `paths: a, b`, `paths: [a, b]`, or one item per line. */
function pathsOf(frontmatter: string): string[] | undefined {
  const lines = frontmatter.split('\n');
  const at = lines.findIndex((it) => /^paths\s*:/.test(it));
  if (at === -1) return undefined;
  const inline = (lines[at] ?? '').replace(/^paths\s*:/, '').trim();
  if (inline !== '') return splitList(inline.replace(/^\[(.*)\]$/, '$1')).flatMap(unquoted);
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((it) => it.trim() !== '' && !/^\s*-\s/.test(it));
  return (end === -1 ? rest : rest.slice(0, end)).flatMap((it) => unquoted(it.replace(/^\s*-\s+/, '')));
}

/** Splits at commas outside of braces and quotes. */
function splitList(text: string): string[] {
  return unquoted(text)[0]?.match(/(?:\{[^}]*\}|"[^"]*"|'[^']*'|[^,])+/g) ?? [];
}

function unquoted(word: string): string[] {
  const plain = word.trim().replace(/^(["'])((?:(?!\1).)*)\1$/, '$2');
  return plain === '' ? [] : [plain];
}

/** Removes HTML comments that begin a line and end one; those in code blocks stay. */
function withoutComments(body: string): string {
  const kept: string[] = [];
  let fence: string | undefined;
  let isComment = false;
  for (const line of body.split('\n')) {
    if (!isComment) fence = nextFence(fence, line);
    const begins = !isComment && fence === undefined && /^\s*<!--/.test(line);
    if (!begins && !isComment) {
      kept.push(line);
      continue;
    }
    const end = line.indexOf('-->', begins ? line.indexOf('<!--') + 4 : 0);
    isComment = end === -1;
    const after = isComment ? '' : line.slice(end + 3);
    if (after.trim() !== '') kept.push(after);
  }
  return kept.join('\n');
}

/** The marker of the code block that the line is in, or ends; undefined outside of code blocks. */
function nextFence(fence: string | undefined, line: string): string | undefined {
  const [, marker, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (marker === undefined) return fence;
  if (fence === undefined) return marker;
  const ends = marker[0] === fence[0] && marker.length >= fence.length && info.trim() === '';
  return ends ? undefined : fence;
}

/** The paths behind `@` at the start of a word, outside of code. In a path, `\ ` is a blank, and `#…` is not part of it. */
function findImports(text: string): string[] {
  const found = new Set<string>();
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const before = fence;
    fence = nextFence(fence, line);
    if (before !== undefined || fence !== undefined) continue;
    for (const [, path = ''] of withoutCodeSpans(line).matchAll(/(?:^|\s)@((?:\\ |[^\s\\])+)/g)) {
      const plain = path.replaceAll('\\ ', ' ').replace(/#.*$/, '');
      if (/^(?:~\/|\.{0,2}\/)?[\p{L}\p{N}._-]/u.test(plain) && found.size < MAX_IMPORTS) found.add(plain);
    }
  }
  return [...found];
}

/** The line with a blank in place of each code span: text between two equally long runs of backticks. */
function withoutCodeSpans(line: string): string {
  const runs = [...line.matchAll(/`+/g)];
  let plain = '';
  let from = 0;
  for (let at = 0; at < runs.length; at++) {
    const open = runs[at] as RegExpExecArray;
    const close = runs.findIndex((it, index) => index > at && it[0].length === open[0].length);
    if (close === -1) continue;
    const end = runs[close] as RegExpExecArray;
    plain += `${line.slice(from, open.index)} `;
    from = end.index + end[0].length;
    at = close;
  }
  return plain + line.slice(from);
}
