import type { Piece } from '../../../src/cli/chat/piece.ts';
import { render } from '../../../src/cli/chat/render.ts';

/** What a person reads of these. */
export function text(pieces: readonly Piece[]): string[] {
  return pieces.map((piece) => render(piece, { columns: 200, colours: false }));
}
