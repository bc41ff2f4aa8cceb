import type { LinearPattern } from '../../../base/text/patterns.ts';

/** A matching line or a context line; line and column count from 1. */
export type MatchedLine = {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** The start of the first match in the line. */
  readonly column?: number;
};

export type Matches = { readonly count: number; readonly lines: readonly MatchedLine[] };

export type MatchRules = {
  readonly pattern: LinearPattern;
  /** Whether a match may span lines; then each of them counts. */
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

/** The start of the first match by line; both count from 0. */
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
