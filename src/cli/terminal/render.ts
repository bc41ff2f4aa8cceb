import {
  displayWidth,
  graphemes,
  graphemeWidth,
  sanitize,
  sanitizeLine,
  truncateToWidth,
} from './terminal-text.ts';

/** The meaning of a span; rendering chooses a color for it. */
export type Tone =
  | 'plain'
  | 'dim'
  | 'strong'
  | 'good'
  | 'bad'
  | 'warn'
  | 'accent'
  | 'heading'
  | 'emphasis'
  | 'strike'
  | 'code'
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'added'
  | 'removed'
  | 'selected';

export type Span = string | FullSpan;

type FullSpan = readonly [text: string, tone: Tone];

/** One piece of output. Its text is raw: rendering sanitizes it. */
export type Piece =
  /** Continues where the last flow ended: streamed text of a model. */
  | { readonly kind: 'flow'; readonly text: string }
  /** The next piece starts on a new line. */
  | { readonly kind: 'break' }
  /**
   * Starts and ends a line. `wrap` breaks it between words and indents the further rows by `hang` columns, or starts
   * them with the text of `hang`; `cut` truncates it to one row, and `keep` leaves it to the terminal, so that it can be
   * copied unchanged.
   */
  | {
      readonly kind: 'line';
      readonly spans: readonly Span[];
      readonly overflow: 'wrap' | 'cut' | 'keep';
      readonly hang?: number | FullSpan;
    }
  /** A table whose first row is its head; cells are wrapped so that the table fits. */
  | {
      readonly kind: 'grid';
      readonly rows: readonly (readonly (readonly Span[])[])[];
      readonly alignments?: readonly Alignment[];
    };

export type Alignment = 'left' | 'right' | 'center';

export function line(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'wrap' };
}

export function cutLine(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'cut' };
}

/** A line that is indented and printed without breaks: code, output of programs. */
export function keptLine(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'keep' };
}

/** The width and the color support of a terminal. */
export type RenderOptions = {
  readonly columns: number;
  readonly hasColors: boolean;
  /** No row may be wider than the terminal: long words are broken, and lines of `keep` are truncated. */
  readonly isBounded?: boolean;
};

/** Renders a piece for a terminal. All text is sanitized, then colored: no other escape sequence is printed. */
export function render(piece: Piece, options: RenderOptions): string {
  if (piece.kind === 'break') return '';
  if (piece.kind === 'flow') return sanitize(piece.text);
  if (piece.kind === 'grid') return gridRows(piece, options).join('\n');
  const spans = piece.spans.map(split);
  if (piece.overflow === 'wrap' || (piece.overflow === 'keep' && !options.isBounded)) {
    return spans.map(([text, tone]) => paint(sanitize(text), tone, options)).join('');
  }
  let room = options.columns - 1;
  let shown = '';
  for (const [text, tone] of spans) {
    const part = truncateToWidth(sanitizeSpan(text), room);
    room -= displayWidth(part);
    shown += part && paint(part, tone, options);
  }
  return shown;
}

/** Renders a piece as rows of a terminal: lines are broken between words. */
export function renderRows(piece: Piece, options: RenderOptions): string[] {
  switch (piece.kind) {
    case 'break':
      return [];
    case 'flow':
      return sanitize(piece.text).split('\n');
    case 'grid':
      return gridRows(piece, options);
    case 'line': {
      if (piece.overflow !== 'wrap') return render(piece, options).split('\n');
      const lines = splitLines(piece.spans.map(split).map(([text, tone]) => [sanitize(text), tone] as const));
      const wrap = { columns: options.columns - 1, breaksWords: options.isBounded === true };
      const rows = lines.flatMap((spans) => wrapSpans(spans, { ...wrap, hang: piece.hang }));
      return rows.map((row) => paintRow(row, options));
    }
  }
}

function paintRow(row: readonly FullSpan[], options: RenderOptions): string {
  return row.map(([text, tone]) => paint(text, tone, options)).join('');
}

function splitLines(spans: readonly FullSpan[]): FullSpan[][] {
  const lines: FullSpan[][] = [[]];
  for (const [text, tone] of spans) {
    text.split('\n').forEach((part, at) => {
      if (at > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push([part, tone]);
    });
  }
  return lines;
}

/** Narrower text is not broken between words. */
const MIN_WRAP_COLUMNS = 12;

type Wrap = {
  readonly columns: number;
  /** The indent or the start of further rows, by default the indent of the first one. */
  readonly hang?: number | FullSpan | undefined;
  /** Whether words that are longer than a row are broken; otherwise the terminal breaks them, so that they can be copied. */
  readonly breaksWords?: boolean;
};

/** Breaks a line between words. */
function wrapSpans(spans: readonly FullSpan[], { columns, hang, breaksWords = false }: Wrap): FullSpan[][] {
  const text = spans.map(([part]) => part).join('');
  const isNarrow = columns < MIN_WRAP_COLUMNS;
  if (displayWidth(text) <= columns || (isNarrow && !breaksWords)) return [[...spans]];
  const own = /^ */.exec(text)?.[0].length ?? 0;
  const start = rowStart(hang ?? own, columns - MIN_WRAP_COLUMNS);
  const rows: FullSpan[][] = [[]];
  let used = 0;
  let isFresh = true;
  const startRow = () => {
    rows.push(start ? [start] : []);
    used = start ? displayWidth(start[0]) : 0;
    isFresh = true;
  };
  for (const { parts, width, isSpace } of wordsOf(spans)) {
    if (used + width > columns && !isFresh) startRow();
    if (isSpace && isFresh && rows.length > 1) continue;
    if (breaksWords && used + width > columns) {
      for (const [part, tone] of parts) {
        for (const character of graphemes(part)) {
          const size = graphemeWidth(character);
          if (used + size > columns && used > 0) startRow();
          rows.at(-1)?.push([character, tone]);
          used += size;
        }
      }
    } else {
      rows.at(-1)?.push(...parts);
      used += width;
      // The terminal has wrapped the word at its own width, which is one column more.
      if (used > columns) used %= columns + 1;
    }
    if (!isSpace) isFresh = false;
  }
  return rows.map(joinSpans);
}

/** The start of further rows; undefined if it leaves no room for text. */
function rowStart(hang: number | FullSpan, room: number): FullSpan | undefined {
  if (typeof hang !== 'number') return displayWidth(hang[0]) <= room ? hang : undefined;
  const indent = Math.min(hang, room);
  return indent > 0 ? [' '.repeat(indent), 'plain'] : undefined;
}

type Word = { readonly parts: FullSpan[]; width: number; readonly isSpace: boolean };

/** Chinese and Japanese characters are words of their own, together with the punctuation after them. */
const WORDS =
  /\s+|[\p{Script=Han}\u3040-\u30ff\uff10-\uff5a][\u3001\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u30fb\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f]*|[^\s\p{Script=Han}\u3040-\u30ff\uff10-\uff5a]+/gu;

/** The words of a line and the spaces between them. A word may have several spans. */
function wordsOf(spans: readonly FullSpan[]): Word[] {
  const words: Word[] = [];
  for (const [text, tone] of spans) {
    for (const [at, part] of (text.match(WORDS) ?? []).entries()) {
      const isSpace = part.trim() === '';
      const width = displayWidth(part);
      const last = words.at(-1);
      if (at === 0 && last && !isSpace && !last.isSpace) {
        last.parts.push([part, tone]);
        last.width += width;
      } else words.push({ parts: [[part, tone]], width, isSpace });
    }
  }
  return words;
}

/** Joins neighbors of one tone, and removes white space at the end. */
function joinSpans(row: readonly FullSpan[]): FullSpan[] {
  const joined: FullSpan[] = [];
  for (const [text, tone] of row) {
    const last = joined.at(-1);
    if (last?.[1] === tone) joined[joined.length - 1] = [last[0] + text, tone];
    else joined.push([text, tone]);
  }
  const last = joined.at(-1);
  return last ? [...joined.slice(0, -1), [last[0].trimEnd(), last[1]]] : joined;
}

const GRID_GAP = 2;
const MIN_CELL_COLUMNS = 6;

/** Lays out a table: columns that are wider than their share are wrapped. */
function gridRows(
  { rows, alignments = [] }: Extract<Piece, { kind: 'grid' }>,
  options: RenderOptions,
): string[] {
  const cells = rows.map((row) =>
    row.map((spans) => spans.map(split).map(([text, tone]) => [sanitizeSpan(text), tone] as const)),
  );
  const count = Math.max(0, ...cells.map((row) => row.length));
  const natural = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...cells.map((row) => spansWidth(row[at] ?? []))),
  );
  const room = options.columns - 1 - GRID_GAP * (count - 1);
  const widths = fitWidths(natural, room);
  if (widths.reduce((sum, width) => sum + width, 0) > room) return recordRows(cells, options);
  return cells.flatMap((row, index) => {
    const wrapped = widths.map((columns, at) => wrapSpans(row[at] ?? [], { columns, breaksWords: true }));
    const height = Math.max(1, ...wrapped.map((it) => it.length));
    const shown = Array.from({ length: height }, (_, line) =>
      wrapped
        .map((cell, at) => {
          const spans = index === 0 ? emphasized(cell[line] ?? []) : (cell[line] ?? []);
          const space = Math.max(0, (widths[at] ?? 0) - spansWidth(spans));
          const before = { left: 0, center: Math.floor(space / 2), right: space }[alignments[at] ?? 'left'];
          return ' '.repeat(before) + paintRow(spans, options) + ' '.repeat(space - before);
        })
        .join(' '.repeat(GRID_GAP))
        .trimEnd(),
    );
    const rule = widths.map((width) => '─'.repeat(width)).join(' '.repeat(GRID_GAP));
    return index === 0 ? [...shown, paint(rule, 'dim', options)] : shown;
  });
}

/** A table that is too wide for columns: each row as a list of its cells. */
function recordRows(
  [head = [], ...body]: readonly (readonly FullSpan[])[][],
  options: RenderOptions,
): string[] {
  const wrap = { columns: Math.max(1, options.columns - 1), breaksWords: true, hang: 2 };
  const rule = paint('─'.repeat(Math.min(24, wrap.columns)), 'dim', options);
  const records = body.length > 0 ? body : [[]];
  return records.flatMap((row, index) => [
    ...(index === 0 ? [] : [rule]),
    ...head.flatMap((name, at) => {
      const value = row[at] ?? [];
      const label: FullSpan = [spansWidth(value) > 0 ? ': ' : ':', 'strong'];
      return wrapSpans([...emphasized(name), label, ...value], wrap).map((it) => paintRow(it, options));
    }),
  ]);
}

function emphasized(spans: readonly FullSpan[]): FullSpan[] {
  return spans.map(([text, tone]) => [text, tone === 'plain' ? 'strong' : tone]);
}

function spansWidth(spans: readonly FullSpan[]): number {
  return displayWidth(spans.map(([text]) => text).join(''));
}

/** Shrinks the widest columns until all of them fit, if that is possible. */
function fitWidths(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  const total = natural.reduce((sum, width) => sum + width, 0);
  for (let over = total - room; over > 0; over -= 1) {
    const widest = Math.max(...widths);
    if (widest <= MIN_CELL_COLUMNS) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

const SEQUENCES: Readonly<Record<Tone, readonly [on: string, off: string] | undefined>> = {
  plain: undefined,
  dim: ['2', '22'],
  strong: ['1', '22'],
  good: ['32', '39'],
  bad: ['31', '39'],
  warn: ['33', '39'],
  accent: ['36', '39'],
  heading: ['1;36', '22;39'],
  emphasis: ['3', '23'],
  strike: ['9', '29'],
  code: ['36', '39'],
  keyword: ['35', '39'],
  string: ['32', '39'],
  number: ['33', '39'],
  comment: ['90', '39'],
  added: ['32', '39'],
  removed: ['31', '39'],
  selected: ['7', '27'],
};

function paint(text: string, tone: Tone, { hasColors }: RenderOptions): string {
  const sequence = hasColors ? SEQUENCES[tone] : undefined;
  if (!sequence) return text;
  const [on, off] = sequence;
  // Line by line, so that a color never continues past the printed text.
  return text.replace(/[^\n]+/g, (row) => `\u001b[${on}m${row}\u001b[${off}m`);
}

function split(span: Span): FullSpan {
  return typeof span === 'string' ? [span, 'plain'] : span;
}

/** Sanitizes one of several adjacent spans: the spaces at its ends are kept. */
function sanitizeSpan(text: string): string {
  const before = /^\s/.test(text) ? (/^ +/.exec(text)?.[0] ?? ' ') : '';
  const inner = sanitizeLine(text);
  return inner === '' ? before : `${before}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
