const MOST_LINES = 2000;
const LONGEST_LINE = 2000;
/** Together; what is beyond is for the next call. */
const MOST_CHARACTERS = 256_000;

export type NumberedLines =
  | { readonly kind: 'lines'; readonly text: string }
  | { readonly kind: 'beyond'; readonly lines: number };

/** A part of a text as `cat -n` shows it, with a note where something was left out. `offset` counts from 1. */
export function numberLines(
  text: string,
  { offset, limit = MOST_LINES }: { readonly offset: number; readonly limit?: number | undefined },
): NumberedLines {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) return { kind: 'beyond', lines: lines.length };
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    const numbered = `${String(offset + shown.length).padStart(6)}\t${cut(line.replace(/\r$/, ''))}`;
    characters += numbered.length + 1;
    if (characters > MOST_CHARACTERS) break;
    shown.push(numbered);
  }
  const next = offset + shown.length;
  if (next <= lines.length) {
    shown.push(`[Lines ${next} to ${lines.length} were left out: Read again with offset ${next} for more.]`);
  }
  return { kind: 'lines', text: shown.join('\n').toWellFormed() };
}

function cut(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  return `${line.slice(0, LONGEST_LINE)} [${line.length - LONGEST_LINE} more characters of this line were left out]`;
}
