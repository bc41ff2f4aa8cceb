import type { GrepHit } from './run-grep.ts';

const LONGEST_LINE = 500;

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
    for (const { line, text, isMatch } of hit.lines) {
      if (options.context && output.length > 0 && line - 1 !== last) output.push('--');
      const mark = isMatch ? ':' : '-';
      output.push(`${name}${mark}${options.numbers ? `${line}${mark}` : ''}${cut(text)}`);
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

function cut(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  return `${line.slice(0, LONGEST_LINE)} [${line.length - LONGEST_LINE} more characters]`;
}
