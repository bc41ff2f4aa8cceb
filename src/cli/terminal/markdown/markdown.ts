import { type Alignment, cutLine, keptLine, line, type Piece, type Span } from '../render.ts';
import { displayWidth } from '../terminal-text.ts';
import { type HighlightState, highlightLine } from './highlight.ts';
import { inlineSpans } from './inline.ts';

/** What has arrived of a markdown text and is not shown yet, and the block that the next line belongs to. */
export type MarkdownState = {
  /** The last line, which may continue. */
  readonly partial: string;
  readonly fence?: Fence;
  /** The rows of a table, which is shown when it is complete. */
  readonly table: readonly string[];
};

type Fence = { readonly mark: string; readonly language: string; readonly state: HighlightState };

export const NO_MARKDOWN: MarkdownState = { partial: '', table: [] };

/** Longer tables are shown in parts, so that the memory is bounded. */
const MAX_TABLE_ROWS = 200;
const MAX_PARTIAL_LENGTH = 16_000;

type Fed = { readonly state: MarkdownState; readonly pieces: readonly Piece[] };

/** Adds text as it arrives; returns the pieces of the lines that are complete. */
export function feedMarkdown(state: MarkdownState, text: string): Fed {
  const lines = (state.partial + text).replace(/\r\n/g, '\n').split('\n');
  const partial = lines.pop() ?? '';
  const pieces: Piece[] = [];
  let block: MarkdownState = { ...state, partial: '' };
  for (const row of lines) {
    const fed = feedLine(block, row);
    block = fed.state;
    pieces.push(...fed.pieces);
  }
  if (partial.length <= MAX_PARTIAL_LENGTH) return { state: { ...block, partial }, pieces };
  // A line without end is shown in parts, so that each addition takes the same time.
  const fed = feedLine(block, partial);
  return { state: fed.state, pieces: [...pieces, ...fed.pieces] };
}

/** The pieces of what is not complete, at the end of the text. */
export function endMarkdown({ partial, ...block }: MarkdownState): readonly Piece[] {
  const fed =
    partial === ''
      ? { state: { ...block, partial }, pieces: [] }
      : feedLine({ ...block, partial: '' }, partial);
  return [...fed.pieces, ...tablePieces(fed.state.table)];
}

function feedLine(state: MarkdownState, row: string): Fed {
  if (state.fence) return feedCode(state, state.fence, row);
  if (isTableRow(row) && state.table.length < MAX_TABLE_ROWS) {
    return { state: { ...state, table: [...state.table, row] }, pieces: [] };
  }
  const before = tablePieces(state.table);
  const [, indent = '', mark, info = ''] = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/.exec(row) ?? [];
  if (mark !== undefined && indent.length <= 12) {
    const language = info.trim().split(/[\s,{]/)[0] ?? '';
    return { state: { partial: '', table: [], fence: { mark, language, state: undefined } }, pieces: before };
  }
  return { state: { partial: '', table: [] }, pieces: [...before, linePiece(row)] };
}

function feedCode(state: MarkdownState, fence: Fence, row: string): Fed {
  const [, mark = ''] = /^\s*(`{3,}|~{3,})\s*$/.exec(row) ?? [];
  if (mark !== '' && mark.startsWith(fence.mark)) {
    const { fence: _fence, ...after } = state;
    return { state: after, pieces: [] };
  }
  const { spans, state: next } = highlightLine(fence.language, row, fence.state);
  return { state: { ...state, fence: { ...fence, state: next } }, pieces: [keptLine('  ', ...spans)] };
}

const RULE = '─'.repeat(24);
const QUOTE = ['│ ', 'dim'] as const;

/** One line that is neither code nor part of a table. */
function linePiece(row: string): Piece {
  const text = row.trimEnd();
  const [, level, heading] = /^(#{1,6})\s+(.*?)(?:\s+#+)?$/.exec(text) ?? [];
  if (level !== undefined && heading !== undefined) {
    return line(...inlineSpans(heading, level.length <= 2 ? 'heading' : 'strong'));
  }
  if (/^ {0,3}([-*_])(?:\s*\1){2,}$/.test(text)) return cutLine([RULE, 'dim']);
  const [, quote] = /^ {0,3}>\s?(.*)$/.exec(text) ?? [];
  if (quote !== undefined) return hanging(QUOTE, quote, QUOTE);
  const [, indent = '', bullet, item = ''] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(text) ?? [];
  if (bullet === undefined) return line(...inlineSpans(text));
  const [, box, task = ''] = /^\[([ xX])\]\s+(.*)$/.exec(item) ?? [];
  const sign = box === undefined ? (/^\d/.test(bullet) ? bullet : '•') : box === ' ' ? '☐' : '☑';
  const lead = `${indent.replaceAll('\t', '  ')}${sign} `;
  return hanging(lead, box === undefined ? item : task, displayWidth(lead));
}

function hanging(lead: Span, text: string, hang: number | typeof QUOTE): Piece {
  return { kind: 'line', spans: [lead, ...inlineSpans(text)], overflow: 'wrap', hang };
}

function isTableRow(row: string): boolean {
  return /^\s*\|.*\|\s*$/.test(row);
}

/** A table needs a row of dashes below its head; other rows are shown as they are. */
function tablePieces(rows: readonly string[]): readonly Piece[] {
  const [head, dashes, ...body] = rows;
  if (head === undefined) return [];
  if (dashes === undefined || !/^[\s|:-]*-[\s|:-]*$/.test(dashes))
    return rows.map((row) => line(...inlineSpans(row)));
  return [
    {
      kind: 'grid',
      rows: [head, ...body].map((row) => cellsOf(row).map((cell) => inlineSpans(cell))),
      alignments: cellsOf(dashes).map(alignmentOf),
    },
  ];
}

/** The alignment of a column, from the colons beside its dashes. */
function alignmentOf(dashes: string): Alignment {
  if (!dashes.endsWith(':')) return 'left';
  return dashes.startsWith(':') ? 'center' : 'right';
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\||(?<!\\)\|$/g, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
