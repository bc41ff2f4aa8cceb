/** One line of a text: a match, or beside one. Counted from 1. */
export type MatchedLine = {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** Where in the line its first match begins. */
  readonly column?: number;
};

export type Matches = { readonly count: number; readonly lines: readonly MatchedLine[] };

export type MatchRules = {
  /** `global` exactly when it is for the text as a whole: then a match may span lines, and all of them count. */
  readonly pattern: RegExp;
  readonly before: number;
  readonly after: number;
};

/** The lines of a text a pattern matches, each once, with those around them in order. */
export function matchLines(text: string, { pattern, before, after }: MatchRules): Matches {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const matching = pattern.global ? linesOfMatches(text, pattern) : linesThatMatch(lines, pattern);
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

/** By line, where in it the first match begins; both from 0. */
type Matching = ReadonlyMap<number, number>;

function linesThatMatch(lines: readonly string[], pattern: RegExp): Matching {
  return new Map(
    lines.flatMap((line, index) => {
      const at = line.search(pattern);
      return at === -1 ? [] : [[index, at] as const];
    }),
  );
}

function linesOfMatches(text: string, pattern: RegExp): Matching {
  const found = new Map<number, number>();
  let line = 0;
  let start = 0;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const end = match.index + Math.max(match[0].length - 1, 0);
    for (; at < match.index; at++) if (text[at] === '\n') [line, start] = [line + 1, at + 1];
    if (match.index >= text.length && text.endsWith('\n')) break;
    if (!found.has(line)) found.set(line, match.index - start);
    for (; at < end; at++) {
      if (text[at] !== '\n') continue;
      [line, start] = [line + 1, at + 1];
      found.set(line, 0);
    }
  }
  return found;
}
