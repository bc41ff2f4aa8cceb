const MOST_LINES = 2000;
const LONGEST_LINE = 2000;
/** Of a line that is asked for by column. */
const LONGEST_PART = 50_000;
/** Together; what is beyond is for the next call. */
const MOST_CHARACTERS = 256_000;

/** Where to begin, and how far; all count from 1. */
export type LinePart = {
  readonly offset: number;
  readonly limit?: number | undefined;
  /** Of the first line; those after it begin at their beginning. */
  readonly column?: number | undefined;
};

export type NumberedLines =
  | { readonly kind: 'lines'; readonly text: string }
  | { readonly kind: 'beyond'; readonly lines: number }
  | { readonly kind: 'beyond-line'; readonly characters: number };

/** A part of a text as `cat -n` shows it, with a note where something was left out and how to get it. */
export function numberLines(text: string, part: LinePart): NumberedLines {
  const { offset, limit = MOST_LINES, column = 1 } = part;
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) return { kind: 'beyond', lines: lines.length };
  const first = ended(lines[offset - 1] as string);
  if (column > 1 && column > first.length) return { kind: 'beyond-line', characters: first.length };
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    const number = offset + shown.length;
    const numbered = `${String(number).padStart(6)}\t${cut(ended(line), number, shown.length === 0 ? column : 1)}`;
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

function ended(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function cut(line: string, number: number, column: number): string {
  const longest = column > 1 ? LONGEST_PART : LONGEST_LINE;
  const start = column - 1;
  if (line.length - start <= longest) return line.slice(start);
  // A pair of surrogates is one character, and stays one.
  const part = line.slice(start, start + longest).replace(/[\uD800-\uDBFF]$/, '');
  const next = start + part.length;
  const more = `${line.length - next} more characters of this line were left out`;
  return `${part} [${more}: Read again with offset ${number} and column ${next + 1} for them]`;
}
