import { type Piece, render } from '../../../../src/cli/terminal/render.ts';

/** The plain text of these pieces. */
export function text(pieces: readonly Piece[]): string[] {
  return pieces.map((piece) => render(piece, { columns: 200, hasColors: false }));
}
