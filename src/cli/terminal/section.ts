import { line, type Piece, type Span, type Tone } from './render.ts';
import { sanitizeLine } from './sanitize.ts';
import { table } from './table.ts';

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
