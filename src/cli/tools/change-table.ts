import type { ToolChange } from '../../host/pin/judge.ts';
import { many } from '../host/figures.ts';
import { table } from '../host/table.ts';

/** What differs from what was accepted, a line each, below the server and the tool. */
export function changeTable(changes: readonly ToolChange[], columns: number | undefined): string[] {
  return changes.flatMap(({ server, tool, differences, text }) => {
    const head =
      differences.length > 0
        ? `${server} ${tool} (${many(differences.length, 'change')})`
        : `${server} ${tool}`;
    const rows = differences.map((it) => [it.severity, it.text]);
    return [
      ...table([[head]], { columns }),
      ...table(rows.length > 0 ? rows : [[text]], { columns: undefined, indent: 2 }),
    ];
  });
}
