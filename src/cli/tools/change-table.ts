import type { ToolChange } from '../../pool/pinning/judge.ts';
import { many } from '../host/figures.ts';
import { table } from '../host/table.ts';

/** What differs from what was accepted, a line each, below the server and the tool; `word` says what became of them. */
export function changeTable(
  changes: readonly ToolChange[],
  columns: number | undefined,
  word: '' | 'accepted ' = '',
): string[] {
  return changes.flatMap(({ server, tool, differences, text }) => {
    const head =
      differences.length > 0
        ? `${word}${server} ${tool} (${many(countOf(differences), 'change')})`
        : `${word}${server} ${tool}`;
    const rows = differences.map((it) => [it.severity, it.text]);
    return [
      ...table([[head]], { columns }),
      ...table(rows.length > 0 ? rows : [[text]], { columns: undefined, indent: 2 }),
    ];
  });
}

/** One that stands for others counts as all of them. */
function countOf(differences: ToolChange['differences']): number {
  return differences.reduce((sum, { count = 1 }) => sum + count, 0);
}
