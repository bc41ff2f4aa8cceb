import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { compilePattern, type LinearPattern } from '../../../base/text/patterns.ts';

/** What to search for, in which files. */
export type GrepJob = {
  readonly source: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly before: number;
  readonly after: number;
  /** Absolute paths; a link in the place of a file is not followed. */
  readonly files: readonly string[];
  /** Maximum size of a file in bytes; larger files are counted and not read. */
  readonly largestFile: number;
  /** The search ends after so many lines or files with matches. */
  readonly enough: { readonly of: 'lines' | 'files'; readonly count: number };
};

/** A file with matches, or the end. */
export type GrepReport =
  | ({ readonly kind: 'hit'; readonly path: string } & Matches)
  | { readonly kind: 'end'; readonly tooLarge: number };

/** Searches the files one after another; undefined after a file without matches, so that the caller can pause there. */
export function* grepEach(job: GrepJob): Generator<GrepReport | undefined> {
  const pattern = compilePattern(job.source, job);
  if (typeof pattern === 'string') throw new Error(pattern);
  const { multiline, before, after } = job;
  const rules = { pattern, multiline, before, after };
  let tooLarge = 0;
  let got = 0;
  for (const path of job.files) {
    const text = readText(path, job.largestFile);
    if (text === 'too-large') tooLarge += 1;
    const { count, lines } = typeof text === 'object' ? matchLines(text.text, rules) : NO_MATCHES;
    if (count === 0) {
      yield undefined;
      continue;
    }
    const isAboutLines = job.enough.of === 'lines';
    yield { kind: 'hit', path, count, lines: isAboutLines ? lines.slice(0, job.enough.count - got) : [] };
    got += isAboutLines ? lines.length : 1;
    if (got >= job.enough.count) break;
  }
  yield { kind: 'end', tooLarge };
}

const NO_MATCHES: Matches = { count: 0, lines: [] };

/** Skips files that are binary, missing or not readable. */
function readText(path: string, largest: number): { readonly text: string } | 'too-large' | 'skipped' {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'skipped';
    if (stat.size > largest) return 'too-large';
    const bytes = readFileSync(file);
    return bytes.subarray(0, 8192).includes(0) ? 'skipped' : { text: bytes.toString('utf8') };
  } catch {
    return 'skipped';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A matching line or a context line; line and column count from 1. */
type MatchedLine = {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** The start of the first match in the line. */
  readonly column?: number;
};

type Matches = { readonly count: number; readonly lines: readonly MatchedLine[] };

type MatchRules = {
  readonly pattern: LinearPattern;
  /** Whether a match may span lines; if so, each line of a match is a matching line. */
  readonly multiline: boolean;
  readonly before: number;
  readonly after: number;
};

/** The lines of a text that match a pattern, with context lines, each once and in order. */
export function matchLines(text: string, { pattern, multiline, before, after }: MatchRules): Matches {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const matching = multiline
    ? linesOfMatches(text.replaceAll('\r\n', '\n'), pattern)
    : linesThatMatch(lines, pattern);
  const shown = new Map<number, boolean>();
  for (const index of matching.keys()) {
    for (let near = Math.max(0, index - before); near <= Math.min(lines.length - 1, index + after); near++) {
      if (near === index || !shown.has(near)) shown.set(near, near === index);
    }
  }
  const ordered = [...shown].sort(([a], [b]) => a - b);
  return {
    count: matching.size,
    lines: ordered.map(([index, isMatch]) => {
      const at = matching.get(index);
      const column = at === undefined ? {} : { column: at + 1 };
      return { line: index + 1, text: lines[index] ?? '', isMatch, ...column };
    }),
  };
}

/** The column at which the first match of a line starts, by line; both count from 0. */
type Matching = ReadonlyMap<number, number>;

function linesThatMatch(lines: readonly string[], pattern: LinearPattern): Matching {
  return new Map(
    lines.flatMap((line, index) => {
      const [first] = pattern.test(line) ? pattern.matches(line) : [];
      return first === undefined ? [] : [[index, first.start] as const];
    }),
  );
}

function linesOfMatches(text: string, pattern: LinearPattern): Matching {
  const found = new Map<number, number>();
  let line = 0;
  let start = 0;
  let at = 0;
  for (const match of pattern.matches(text)) {
    const last = Math.max(match.end - 1, match.start);
    for (; at < match.start; at++) if (text[at] === '\n') [line, start] = [line + 1, at + 1];
    if (match.start >= text.length && text.endsWith('\n')) break;
    if (!found.has(line)) found.set(line, match.start - start);
    for (; at < last; at++) {
      if (text[at] !== '\n') continue;
      [line, start] = [line + 1, at + 1];
      found.set(line, 0);
    }
  }
  return found;
}
