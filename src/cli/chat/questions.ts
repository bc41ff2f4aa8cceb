import type { LineEditor, ReadEnd } from './line-editor.ts';
import type { Piece } from './piece.ts';

/** What a question may do while it is its turn. */
export type Asking = {
  print(pieces: readonly Piece[]): void;
  /** One line from the person, or how there came none. */
  ask(prompt: string): Promise<ReadEnd>;
};

/** Questions to the person at the terminal, one at a time in the order they came. */
export class Questions {
  readonly #editor: Pick<LineEditor, 'read'>;
  readonly #print: (pieces: readonly Piece[]) => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(editor: Pick<LineEditor, 'read'>, print: (pieces: readonly Piece[]) => void) {
    this.#editor = editor;
    this.#print = print;
  }

  /** Waits for its turn, then holds the dialogue; `undefined` if the question was withdrawn before it began. */
  async hold<T>(dialogue: (asking: Asking) => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const turn = this.#last.then(() => {
      if (signal.aborted) return undefined;
      return dialogue({
        print: this.#print,
        ask: (prompt) => this.#editor.read(prompt, 'answer', signal),
      });
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
