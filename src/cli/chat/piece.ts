/** How something is meant; the screen chooses a colour for it, if it has any. */
export type Tone = 'plain' | 'dim' | 'strong' | 'good' | 'bad' | 'warn' | 'accent';

export type Span = string | readonly [text: string, tone: Tone];

/** One thing to print. Its text is as it came: only the screen knows what a terminal can take. */
export type Piece =
  /** Goes on where the last flow ended: a model's text as it comes. */
  | { readonly kind: 'flow'; readonly text: string }
  /** What comes next begins on a line of its own. */
  | { readonly kind: 'break' }
  /** Stands on lines of its own; `cut` ones take one line, whatever the width. */
  | { readonly kind: 'line'; readonly spans: readonly Span[]; readonly overflow: 'wrap' | 'cut' };

export function line(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'wrap' };
}

export function cutLine(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'cut' };
}
