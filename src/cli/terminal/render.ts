import { displayWidth, sanitize, sanitizeLine, truncateToWidth } from './text.ts';

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

/** What a terminal is like. */
export type RenderOptions = { readonly columns: number; readonly hasColors: boolean };

/** A piece as text for a terminal. Everything is neutralised here, then coloured: no other escape sequence leaves. */
export function render(piece: Piece, options: RenderOptions): string {
  if (piece.kind === 'break') return '';
  if (piece.kind === 'flow') return sanitize(piece.text);
  const spans = piece.spans.map(split);
  if (piece.overflow === 'wrap') {
    return spans.map(([text, tone]) => paint(sanitize(text), tone, options)).join('');
  }
  let room = options.columns - 1;
  let shown = '';
  for (const [text, tone] of spans) {
    const part = truncateToWidth(sanitizeSpan(text), room);
    room -= displayWidth(part);
    shown += part && paint(part, tone, options);
  }
  return shown;
}

const SEQUENCES: Readonly<Record<Tone, readonly [on: string, off: string] | undefined>> = {
  plain: undefined,
  dim: ['2', '22'],
  strong: ['1', '22'],
  good: ['32', '39'],
  bad: ['31', '39'],
  warn: ['33', '39'],
  accent: ['36', '39'],
};

function paint(text: string, tone: Tone, { hasColors }: RenderOptions): string {
  const sequence = hasColors ? SEQUENCES[tone] : undefined;
  if (!sequence) return text;
  const [on, off] = sequence;
  // Line by line, so that a colour never runs on past what is printed.
  return text.replace(/[^\n]+/g, (row) => `\u001b[${on}m${row}\u001b[${off}m`);
}

function split(span: Span): readonly [string, Tone] {
  return typeof span === 'string' ? [span, 'plain'] : span;
}

/** Spans stand beside each other, so the spaces at their ends count. */
function sanitizeSpan(text: string): string {
  const before = /^\s/.test(text) ? (/^ +/.exec(text)?.[0] ?? ' ') : '';
  const inner = sanitizeLine(text);
  return inner === '' ? before : `${before}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
