import type { LinearPattern } from '../../../base/text/patterns.ts';
import type { GrepHit } from './run-grep.ts';

const MAX_LINE_LENGTH = 500;
/** How much of a long line is shown before its match. */
const BEFORE_MATCH = 100;

/**
 * Matching lines as `path:number:line`, those around them as `path-number-line`, and `--` where lines are missing. With
 * `only`, each match of that pattern is shown in place of its line.
 */
export function contentLines(
  hits: readonly GrepHit[],
  shown: (path: string) => string,
  options: { readonly numbers: boolean; readonly context: boolean; readonly only?: LinearPattern },
): string[] {
  const output: string[] = [];
  for (const hit of hits) {
    const name = shown(hit.path);
    let last: number | undefined;
    for (const { line, text, isMatch, column = 1 } of hit.lines) {
      if (options.context && output.length > 0 && line - 1 !== last) output.push('--');
      const mark = isMatch ? ':' : '-';
      const start = `${name}${mark}${options.numbers ? `${line}${mark}` : ''}`;
      if (options.only) {
        const matches = [...options.only.matches(text)].filter((it) => it.end > it.start);
        for (const match of matches) output.push(start + cut(text.slice(match.start, match.end), line, 1));
      } else output.push(start + cut(text, line, column));
      last = line;
    }
  }
  return output;
}

/** The number of matching lines of each file, as `path:count`. */
export function countLines(hits: readonly GrepHit[], shown: (path: string) => string): string[] {
  return hits.map(({ path, count }) => `${shown(path)}:${count}`);
}

/** The first entries within both limits, and a note if entries were left out. */
export function limitEntries(
  entries: readonly string[],
  maxEntries: number,
  maxCharacters: number,
): { readonly kept: readonly string[]; readonly note?: string } {
  const kept: string[] = [];
  let characters = 0;
  for (const entry of entries.slice(0, maxEntries)) {
    characters += entry.length + 1;
    if (characters > maxCharacters) break;
    kept.push(entry.toWellFormed());
  }
  if (kept.length === entries.length) return { kept };
  const note = `[More results after these ${kept.length} lines: use a narrower search or a higher head_limit]`;
  return { kept, note };
}

/** Shows a long line around its match with the column, so that `Read` can continue from there. */
function cut(text: string, line: number, column: number): string {
  if (text.length <= MAX_LINE_LENGTH) return text;
  if (column + BEFORE_MATCH <= MAX_LINE_LENGTH) {
    return `${text.slice(0, MAX_LINE_LENGTH)} [${text.length - MAX_LINE_LENGTH} more characters]`;
  }
  const start = Math.min(column - 1 - BEFORE_MATCH, text.length - MAX_LINE_LENGTH);
  const shown = text.slice(start, start + MAX_LINE_LENGTH);
  const how = `use Read with offset ${line} and column ${column}`;
  return `[match at column ${column} of ${text.length}] …${shown}… [${how}]`;
}
