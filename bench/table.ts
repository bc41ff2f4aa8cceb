import type { Row } from './row.ts';

const HEADINGS = ['', 'ours', 'against', 'ratio', 'target', ''] as const;

/** Formats the rows as a text table. */
export function formatTable(rows: readonly Row[]): string {
  const lines = [HEADINGS as readonly string[], ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function cells({ name, ours, against, ratio, target, pass }: Row): string[] {
  return [name, String(ours), String(against), String(ratio), target, pass ? 'pass' : 'FAIL'];
}
