import { line, type Piece } from '../../chat/piece.ts';
import { table } from '../../host/table.ts';
import { MARKS, type Row } from '../health.ts';

/** The list for people: one server a line, or that there is none. Nothing is cut, since the end says what to do. */
export function listPieces(rows: readonly Row[], empty: string): Piece[] {
  if (rows.length === 0) return [line(empty)];
  const cells = rows.map(({ name, written, health }) => [name, written.scope, written.label, health.text]);
  return table(cells, { columns: undefined }).map((text, at) => {
    const [mark, tone] = MARKS[(rows[at] as Row).health.state];
    return line([mark, tone], ` ${text}`);
  });
}
