import type { GrepHit } from './run-grep.ts';

const LONGEST_LINE = 500;
/** How much of a long line is shown before its match. */
const BEFORE_MATCH = 100;

/** Matching lines as `path:number:line`, those around them as `path-number-line`, and `--` where lines are missing. */
export function contentLines(
  hits: readonly GrepHit[],
  shown: (path: string) => string,
  options: { readonly numbers: boolean; readonly context: boolean },
): string[] {
  const output: string[] = [];
  for (const hit of hits) {
    const name = shown(hit.path);
    let last: number | undefined;
    for (const { line, text, isMatch, column = 1 } of hit.lines) {
      if (options.context && output.length > 0 && line - 1 !== last) output.push('--');
      const mark = isMatch ? ':' : '-';
      output.push(`${name}${mark}${options.numbers ? `${line}${mark}` : ''}${cut(text, line, column)}`);
      last = line;
    }
  }
  return output;
}

export function countLines(hits: readonly GrepHit[], shown: (path: string) => string): string[] {
  return hits.map(({ path, count }) => `${shown(path)}:${count}`);
}

/** The first entries, as many as are wanted and as fit, with a note when there are more. */
export function limited(entries: readonly string[], most: number, mostCharacters: number): string {
  const kept: string[] = [];
  let characters = 0;
  for (const entry of entries.slice(0, most)) {
    characters += entry.length + 1;
    if (characters > mostCharacters) break;
    kept.push(entry);
  }
  if (kept.length < entries.length) {
    kept.push(`[There is more after these ${kept.length} lines: narrow the search, or raise head_limit]`);
  }
  return kept.join('\n').toWellFormed();
}

/** A long line is shown around its match, and says where that is, so that it can be read on from there. */
function cut(text: string, line: number, column: number): string {
  if (text.length <= LONGEST_LINE) return text;
  if (column + BEFORE_MATCH <= LONGEST_LINE) {
    return `${text.slice(0, LONGEST_LINE)} [${text.length - LONGEST_LINE} more characters]`;
  }
  const start = Math.min(column - 1 - BEFORE_MATCH, text.length - LONGEST_LINE);
  const shown = text.slice(start, start + LONGEST_LINE);
  const how = `Read it with offset ${line} and column ${column}`;
  return `[match at column ${column} of ${text.length}] …${shown}… [${how}]`;
}
