import { pluralize } from '../output/format.ts';
import { displayWidth, truncateToWidth } from './display-width.ts';
import { sanitizeLine } from './sanitize.ts';

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
