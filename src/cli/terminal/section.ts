import { line, type Piece, type Span, type Tone } from './render.ts';
import { table } from './table.ts';
import { sanitizeLine } from './text.ts';

/** One state in a sign and a colour. */
export const MARKS = {
  usable: ['✓', 'good'],
  waiting: ['⏸', 'dim'],
  unusable: ['✗', 'bad'],
  doubtful: ['⚠', 'warn'],
  unknown: ['?', 'warn'],
} as const satisfies Record<string, readonly [string, Tone]>;

/** A heading, and rows whose columns stand below each other; nothing without rows. */
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

/** Lines of one fact each, with what they are about before them. */
export function facts(rows: readonly (readonly [string, string])[]): Piece[] {
  const widest = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => line([name.padEnd(widest + 2), 'strong'], sanitizeLine(text)));
}

/** What to do, the last thing a person reads. */
export function nextLines(next: readonly string[]): Piece[] {
  const all = next.length === 0 ? ['nothing, it is well'] : next;
  return all.map((step, at) => line([at === 0 ? 'next: ' : '      ', 'strong'], sanitizeLine(step)));
}

/** The sentence that could stand alone, with its sign. */
export function answerLine([sign, tone]: readonly [string, Tone], answer: string): Piece {
  const spans: Span[] = [[sign, tone], ` ${sanitizeLine(answer)}`];
  return line(...spans);
}
