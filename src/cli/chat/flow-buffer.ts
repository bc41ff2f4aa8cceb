import type { Piece } from './piece.ts';

/** Holds back the unfinished line of a streamed text while something is typed below it. */
export class FlowBuffer {
  #held = '';

  /** The pieces to print now. While `isTyping`, streamed text comes by whole lines. */
  take(pieces: readonly Piece[], isTyping: boolean): readonly Piece[] {
    if (!isTyping && this.#held === '') return pieces;
    return pieces.flatMap((piece) => {
      if (piece.kind !== 'flow') return [...this.flush(), piece];
      const text = this.#held + piece.text;
      const end = isTyping ? text.lastIndexOf('\n') + 1 : text.length;
      this.#held = text.slice(end);
      return end > 0 ? [{ kind: 'flow', text: text.slice(0, end) } as const] : [];
    });
  }

  /** What was held back, to be printed as it is. */
  flush(): readonly Piece[] {
    const text = this.#held;
    this.#held = '';
    return text === '' ? [] : [{ kind: 'flow', text }];
  }
}
