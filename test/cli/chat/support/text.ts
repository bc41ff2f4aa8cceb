import { type Piece, render } from '../../../../src/cli/terminal/render.ts';

/** What a person reads of these. */
export function text(pieces: readonly Piece[]): string[] {
  return pieces.map((piece) => render(piece, { columns: 200, hasColors: false }));
}
