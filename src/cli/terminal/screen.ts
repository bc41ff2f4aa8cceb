import { type Piece, type RenderOptions, render, renderRows } from './render.ts';
import type { Terminal } from './terminal.ts';
import { displayWidth } from './terminal-text.ts';

/** The live area below the printed output: rows that are redrawn, and the position of the cursor in them. */
export type Frame = {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
};

export const NO_FRAME: Frame = { rows: [] };

/** The part of a terminal that a screen needs. */
export type ScreenTerminal = Pick<
  Terminal,
  'output' | 'isInteractive' | 'isPlain' | 'hasColors' | 'columns' | 'rows' | 'onResize'
>;

/**
 * Prints pieces above a live area. Each update is one write between the marks of a synchronized update, and
 * contains only the rows that changed, so that nothing flickers. Without a terminal, or with a plain one, the output
 * is linear and there is no live area.
 */
export class Screen implements Disposable {
  readonly #terminal: ScreenTerminal;
  readonly #compose: () => Frame;
  readonly #resizing: Disposable | undefined;
  #drawn: Frame = NO_FRAME;
  #drawnColumns: number;
  #isAtLineStart = true;
  #isScheduled = false;
  #isClosed = false;

  constructor(terminal: ScreenTerminal, compose: () => Frame) {
    this.#terminal = terminal;
    this.#compose = compose;
    this.#drawnColumns = terminal.columns();
    if (this.isLive) this.#resizing = terminal.onResize(() => this.refresh());
  }

  /** Whether there is a live area. */
  get isLive(): boolean {
    return this.#terminal.isInteractive && !this.#terminal.isPlain;
  }

  /** Prints above the live area. */
  print(pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    if (this.isLive && !this.#isClosed) {
      const options = this.#look();
      this.#update(pieces.flatMap((piece) => renderRows(piece, options)));
    } else this.#printLinear(pieces);
  }

  /** Redraws the live area with the next turn of the event loop. */
  refresh(): void {
    if (!this.isLive || this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isClosed) this.#update([]);
    });
  }

  /** Redraws the whole screen. */
  redraw(): void {
    if (!this.isLive || this.#isClosed) return;
    // Some terminals keep the rows that they clear, and would keep the live area among the output.
    const erased = paintFrame(this.#reflowed(), [], NO_FRAME);
    this.#terminal.output.write(`${erased}\u001b[H\u001b[2J`);
    this.#drawn = NO_FRAME;
    this.#update([]);
  }

  /** Writes a sequence that prints nothing, such as a bell. */
  signal(sequence: string): void {
    if (this.isLive && !this.#isClosed) this.#terminal.output.write(sequence);
  }

  /** Starts a new line unless linear output is at the start of one. */
  freshLine(): void {
    if (this.isLive || this.#isAtLineStart) return;
    this.#write('\n');
  }

  /** A prompt of linear output, after which the user types. */
  promptLinear(text: string): void {
    if (this.isLive || !this.#terminal.isInteractive) return;
    this.freshLine();
    this.#terminal.output.write(text);
  }

  /** Removes the live area. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#resizing?.[Symbol.dispose]();
    if (this.isLive && this.#drawn.rows.length > 0) {
      this.#terminal.output.write(`${paintFrame(this.#reflowed(), [], NO_FRAME)}${SHOW_CURSOR}`);
    }
    this.#isClosed = true;
    this.freshLine();
  }

  #printLinear(pieces: readonly Piece[]): void {
    const options = this.#look();
    for (const piece of pieces) {
      const text = render(piece, options);
      if (piece.kind === 'break') this.freshLine();
      else if (piece.kind === 'flow') this.#write(text);
      else this.#write(`${this.#isAtLineStart ? '' : '\n'}${text}\n`);
    }
  }

  #update(printed: readonly string[]): void {
    const before = this.#reflowed();
    const after = this.#compose();
    const text = paintFrame(before, printed, after);
    this.#drawn = after;
    this.#drawnColumns = this.#terminal.columns();
    if (text !== '') this.#terminal.output.write(`${SYNC_START}${text}${SYNC_END}`);
  }

  /** The drawn frame as the terminal shows it now: a narrower terminal has wrapped its rows. */
  #reflowed(): Frame {
    const columns = this.#terminal.columns();
    return columns === this.#drawnColumns ? this.#drawn : reflowFrame(this.#drawn, columns);
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

const SYNC_START = '\u001b[?2026h';
const SYNC_END = '\u001b[?2026l';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_ROW = '\u001b[2K';
const CLEAR_BELOW = '\u001b[J';

/**
 * The bytes that turn the drawn frame into another one, with `printed` above it. The cursor is in the row and column of
 * the drawn frame before, and in those of the new one after.
 */
export function paintFrame(before: Frame, printed: readonly string[], after: Frame): string {
  const up = before.cursor?.row ?? Math.max(0, before.rows.length - 1);
  const start = `\r${move(up, 'A')}`;
  const visible = (before.cursor === undefined) === (after.cursor === undefined) ? '' : cursorMode(after);
  if (printed.length > 0) {
    const rows = [...printed.map((row) => `${row}\n`), after.rows.join('\n')].join('');
    return start + CLEAR_BELOW + rows + place(after, after.rows.length - 1) + visible;
  }
  const changed = after.rows.map((row, at) => row !== before.rows[at]);
  const isShorter = after.rows.length < before.rows.length;
  const isSame = !isShorter && !changed.includes(true) && after.rows.length === before.rows.length;
  if (isSame && samePlace(before, after)) return visible;
  if (after.rows.length === 0) return start + CLEAR_BELOW + visible;
  let text = start;
  after.rows.forEach((row, at) => {
    if (at > 0) text += '\n';
    const isLast = at === after.rows.length - 1;
    if (changed[at] || (isLast && isShorter)) text += CLEAR_ROW + row;
  });
  if (isShorter) text += `\n${CLEAR_BELOW}`;
  return text + place(after, after.rows.length - (isShorter ? 0 : 1)) + visible;
}

function samePlace({ cursor: before }: Frame, { cursor: after }: Frame): boolean {
  return before?.row === after?.row && before?.column === after?.column;
}

/** Moves the cursor from a row of the frame to its place. */
function place({ rows, cursor }: Frame, from: number): string {
  const row = cursor?.row ?? Math.max(0, rows.length - 1);
  return `${move(from - row, 'A')}\r${move(cursor?.column ?? 0, 'C')}`;
}

function cursorMode({ cursor }: Frame): string {
  return cursor === undefined ? HIDE_CURSOR : SHOW_CURSOR;
}

function move(by: number, direction: 'A' | 'C'): string {
  return by > 0 ? `\u001b[${by}${direction}` : '';
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors of our own rendering.
const COLORS = /\u001b\[[\d;]*m/g;

/** The frame after a terminal has wrapped its rows at this width. */
export function reflowFrame({ rows, cursor }: Frame, columns: number): Frame {
  const heights = rows.map((row) => Math.max(1, Math.ceil(displayWidth(row.replace(COLORS, '')) / columns)));
  const wrapped = heights.flatMap((height) => Array.from({ length: height }, () => '\u0000'));
  if (!cursor) return { rows: wrapped };
  const above = heights.slice(0, cursor.row).reduce((sum, height) => sum + height, 0);
  const row = above + Math.floor(cursor.column / columns);
  return { rows: wrapped, cursor: { row, column: cursor.column % columns } };
}
