import { neutralise, onOneLine } from './neutralise.ts';
import type { Piece, Span, Tone } from './piece.ts';
import { cutTo, widthOf } from './width.ts';

/** What a terminal is like. */
export type Look = { readonly columns: number; readonly colours: boolean };

/** A piece as text for a terminal. Everything is neutralised here, then coloured: no other escape sequence leaves. */
export function render(piece: Piece, look: Look): string {
  if (piece.kind === 'break') return '';
  if (piece.kind === 'flow') return neutralise(piece.text);
  const spans = piece.spans.map(split);
  if (piece.overflow === 'wrap') {
    return spans.map(([text, tone]) => paint(neutralise(text), tone, look)).join('');
  }
  let room = look.columns - 1;
  let shown = '';
  for (const [text, tone] of spans) {
    const part = cutTo(onOneLineKeepingEnds(text), room);
    room -= widthOf(part);
    shown += part && paint(part, tone, look);
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

function paint(text: string, tone: Tone, { colours }: Look): string {
  const sequence = colours ? SEQUENCES[tone] : undefined;
  if (!sequence) return text;
  const [on, off] = sequence;
  // Line by line, so that a colour never runs on past what is printed.
  return text.replace(/[^\n]+/g, (row) => `\u001b[${on}m${row}\u001b[${off}m`);
}

function split(span: Span): readonly [string, Tone] {
  return typeof span === 'string' ? [span, 'plain'] : span;
}

/** Spans stand beside each other, so the spaces at their ends count. */
function onOneLineKeepingEnds(text: string): string {
  const before = /^\s/.test(text) ? (/^ +/.exec(text)?.[0] ?? ' ') : '';
  const inner = onOneLine(text);
  return inner === '' ? before : `${before}${inner}${/\s$/.test(text) ? ' ' : ''}`;
}
