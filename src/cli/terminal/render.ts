import { displayWidth, truncateToWidth } from './display-width.ts';
import { sanitize, sanitizeLine } from './sanitize.ts';

/** The meaning of a span; rendering chooses a color for it. */
export type Tone = 'plain' | 'dim' | 'strong' | 'good' | 'bad' | 'warn' | 'accent';

export type Span = string | readonly [text: string, tone: Tone];

/** One piece of output. Its text is raw: rendering sanitizes it. */
export type Piece =
  /** Continues where the last flow ended: streamed text of a model. */
  | { readonly kind: 'flow'; readonly text: string }
  /** The next piece starts on a new line. */
  | { readonly kind: 'break' }
  /** Starts and ends a line; with `cut` it is truncated to one line. */
  | { readonly kind: 'line'; readonly spans: readonly Span[]; readonly overflow: 'wrap' | 'cut' };

export function line(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'wrap' };
}

export function cutLine(...spans: Span[]): Piece {
  return { kind: 'line', spans, overflow: 'cut' };
}

/** The width and the color support of a terminal. */
export type RenderOptions = { readonly columns: number; readonly hasColors: boolean };

/** Renders a piece for a terminal. All text is sanitized, then colored: no other escape sequence is printed. */
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
  // Line by line, so that a color never continues past the printed text.
  return text.replace(/[^\n]+/g, (row) => `\u001b[${on}m${row}\u001b[${off}m`);
}

function split(span: Span): readonly [string, Tone] {
  return typeof span === 'string' ? [span, 'plain'] : span;
}

/** Sanitizes one of several adjacent spans: the spaces at its ends are kept. */
function sanitizeSpan(text: string): string {
  const before = /^\s/.test(text) ? (/^ +/.exec(text)?.[0] ?? ' ') : '';
  const inner = sanitizeLine(text);
  return inner === '' ? before : `${before}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
