import { pluralize } from '../../base/text/display-text.ts';
import { line, type Piece, type Span, type Tone } from './render.ts';
import { displayWidth, sanitizeLine, truncateToWidth } from './terminal-text.ts';

/** Layout of a table; columns are numbered from 0. */
type Layout = {
  /** The width of the terminal; undefined for no limit. */
  readonly columns: number | undefined;
  /** Right-aligned columns. */
  readonly right?: readonly number[];
  readonly indent?: number;
};

const GAP = '  ';
/** Minimum width of the last column. */
const MIN_LAST_COLUMN = 10;

/** Formats rows with aligned columns; the last column is truncated to the remaining width. */
export function table(
  rows: readonly (readonly string[])[],
  { columns, right = [], indent = 0 }: Layout,
): string[] {
  const cells = rows.map((row) => row.map(sanitizeCell));
  const widths: number[] = [];
  for (const row of cells) {
    row.slice(0, -1).forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell));
    });
  }
  const last = Math.max(0, ...cells.map((row) => row.length)) - 1;
  if (right.includes(last)) widths[last] = Math.max(...cells.map((row) => displayWidth(row[last] ?? '')));
  return cells.map((row) => {
    const padded = row.map((cell, at) => pad(cell, widths[at] ?? 0, right.includes(at) ? 'right' : 'left'));
    const before =
      ' '.repeat(indent) +
      padded
        .slice(0, -1)
        .map((cell) => cell + GAP)
        .join('');
    const end = padded.at(-1) ?? '';
    const room =
      columns === undefined ? undefined : Math.max(MIN_LAST_COLUMN, columns - displayWidth(before));
    return (before + (room === undefined ? end : truncateToWidth(end, room))).trimEnd();
  });
}

function pad(cell: string, width: number, side: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(cell)));
  return side === 'left' ? cell + space : space + cell;
}

/** Leading spaces are kept as an indent. */
function sanitizeCell(cell: string): string {
  return (/^ +/.exec(cell)?.[0] ?? '') + sanitizeLine(cell);
}

/** One table per server, below its name. */
export function tablePerServer<T extends { readonly server: string }>(
  items: readonly T[],
  noun: string,
  columns: number | undefined,
  row: (item: T) => readonly string[],
): string[] {
  const groups = [...Map.groupBy(items, ({ server }) => server)].map(([server, its]) => [
    ...table([[`${server} (${pluralize(its.length, noun)})`]], { columns }),
    ...table(its.map(row), { columns, indent: 2 }),
  ]);
  return groups.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

/** Mark and color of each state. */
export const MARKS = {
  usable: ['✓', 'good'],
  waiting: ['⏸', 'dim'],
  unusable: ['✗', 'bad'],
  doubtful: ['⚠', 'warn'],
  unknown: ['?', 'warn'],
} as const satisfies Record<string, readonly [string, Tone]>;

/** A heading with a table below it; nothing if there are no rows. */
export function section(
  title: string,
  rows: readonly (readonly string[])[],
  more: readonly string[] = [],
): Piece[] {
  if (rows.length === 0 && more.length === 0) return [];
  return [
    line([title, 'strong']),
    ...table(rows, { columns: undefined, indent: 2 }).map((row) => line(row)),
    ...more.map((text) => line(`  ${sanitizeLine(text)}`)),
  ];
}

/** One labelled fact per line. */
export function facts(rows: readonly (readonly [string, string])[]): Piece[] {
  const widest = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => line([name.padEnd(widest + 2), 'strong'], sanitizeLine(text)));
}

/** The next steps, shown at the end. */
export function nextLines(next: readonly string[]): Piece[] {
  const all = next.length === 0 ? ['no action needed'] : next;
  return all.map((step, at) => line([at === 0 ? 'next: ' : '      ', 'strong'], sanitizeLine(step)));
}

/** The answer in one sentence, with its mark. */
export function answerLine([sign, tone]: readonly [string, Tone], answer: string): Piece {
  const spans: Span[] = [[sign, tone], ` ${sanitizeLine(answer)}`];
  return line(...spans);
}
