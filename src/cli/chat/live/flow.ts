import {
  endMarkdown,
  feedMarkdown,
  type MarkdownState,
  NO_MARKDOWN,
} from '../../terminal/markdown/markdown.ts';
import type { Piece } from '../../terminal/render.ts';

/** How streamed text is shown: rendered markdown, the text by whole lines, or the text as it arrives. */
export type FlowStyle = 'markdown' | 'lines' | 'raw';

/** Turns streamed text into pieces, and holds back its end until it is complete. */
export class Flow {
  readonly #style: FlowStyle;
  #state: MarkdownState = NO_MARKDOWN;

  constructor(style: FlowStyle) {
    this.#style = style;
  }

  /** The pieces to print now. A piece that is not streamed text ends the text before it. */
  take(pieces: readonly Piece[]): readonly Piece[] {
    if (this.#style === 'raw') return pieces;
    return pieces.flatMap((piece) => {
      if (piece.kind !== 'flow') return [...this.flush(), piece];
      if (this.#style === 'lines') return this.#takeLines(piece.text);
      const { state, pieces: complete } = feedMarkdown(this.#state, piece.text);
      this.#state = state;
      return complete;
    });
  }

  /** What is held back, as it would be shown now. */
  get tail(): readonly Piece[] {
    return endMarkdown(this.#state);
  }

  /** The pieces of the held-back text. */
  flush(): readonly Piece[] {
    const state = this.#state;
    this.#state = NO_MARKDOWN;
    if (this.#style === 'markdown') return endMarkdown(state);
    return state.partial === '' ? [] : [{ kind: 'flow', text: `${state.partial}\n` }];
  }

  #takeLines(text: string): readonly Piece[] {
    const whole = this.#state.partial + text;
    const end = whole.lastIndexOf('\n') + 1;
    this.#state = { ...this.#state, partial: whole.slice(end) };
    return end > 0 ? [{ kind: 'flow', text: whole.slice(0, end) }] : [];
  }
}
