import { cutLine, type Piece, type RenderOptions, render } from './render.ts';

import type { Terminal } from './terminal.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** Prints pieces in order, with a status line below them that is removed before anything else is printed. */
export class Screen {
  readonly #terminal: Terminal;
  #isAtLineStart = true;
  #hasStatus = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    this.status(undefined);
    const options = this.#look();
    for (const piece of pieces) {
      const text = render(piece, options);
      if (piece.kind === 'break') this.freshLine();
      else if (piece.kind === 'flow') this.#write(text);
      else this.#write(`${this.#isAtLineStart ? '' : '\n'}${text}\n`);
    }
  }

  /** Starts a new line unless the cursor is at the start of one. */
  freshLine(): void {
    this.status(undefined);
    if (!this.#isAtLineStart) this.#write('\n');
  }

  /** Shows a status line until the next output; only on a terminal, and never in the middle of a line. */
  status(text: string | undefined): void {
    const { output, isInteractive } = this.#terminal;
    if (!isInteractive || (!this.#isAtLineStart && !this.#hasStatus)) return;
    if (this.#hasStatus || text !== undefined) output.write(CLEAR_LINE);
    this.#hasStatus = text !== undefined;
    if (text === undefined) return;
    output.write(render(cutLine([text, 'dim']), this.#look()));
  }

  #look(): RenderOptions {
    return { columns: this.#terminal.columns(), hasColors: this.#terminal.hasColors };
  }

  #write(text: string): void {
    if (text === '') return;
    this.#terminal.output.write(text);
    this.#isAtLineStart = text.endsWith('\n');
  }
}
