import type { StartProgress } from '../../mcp/servers/servers-options.ts';
import type { Terminal } from './terminal.ts';
import { sanitizeLine, truncateToWidth } from './terminal-text.ts';

/** The part of a terminal that a spinner needs. */
export type SpinnerTerminal = Pick<Terminal, 'output' | 'isInteractive' | 'columns' | 'now' | 'every'>;

/** Work that ends sooner shows no spinner. */
const SHOW_AFTER_MS = 300;
const TICK_MS = 80;
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const CLEAR_LINE = '\r\u001b[2K';

/** A status line for work that takes long; only on a terminal, and removed at the end. */
export class Spinner implements Disposable {
  readonly #place: SpinnerTerminal;
  #text: (() => string) | undefined;
  #paused: (() => string) | undefined;
  #since = 0;
  #ticks = 0;
  #isShown = false;
  #timer: Disposable | undefined;

  constructor(place: SpinnerTerminal) {
    this.#place = place;
  }

  /** Starts showing `text()`, which is called for every frame. */
  show(text: () => string): void {
    if (!this.#place.isInteractive) return;
    this.#text = text;
    this.#since = this.#place.now();
    this.#timer ??= this.#place.every(TICK_MS, () => this.#turn());
  }

  /** Removes the line, before other output. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#text = undefined;
    this.#paused = undefined;
    if (this.#isShown) this.#place.output.write(CLEAR_LINE);
    this.#isShown = false;
  }

  /** Hides the line until the result is disposed of; a stopped spinner stays hidden. */
  pause(): Disposable {
    const text = this.#text;
    this.stop();
    this.#paused = text;
    return { [Symbol.dispose]: () => void (this.#paused && this.show(this.#paused)) };
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #turn(): void {
    const { output, columns, now } = this.#place;
    if (!this.#text || (!this.#isShown && now() - this.#since < SHOW_AFTER_MS)) return;
    this.#isShown = true;
    output.write(CLEAR_LINE + frame(this.#ticks++, this.#text(), columns()));
  }
}

/** One frame, truncated so that it does not wrap. */
export function frame(tick: number, text: string, columns: number): string {
  return truncateToWidth(`${FRAMES[tick % FRAMES.length]} ${sanitizeLine(text)}`, Math.max(1, columns - 1));
}

/** How many servers are connected or have failed. */
export function formatProgress({ settled, total, waitingFor }: StartProgress): string {
  const names = waitingFor.length > 0 ? `: ${waitingFor.join(', ')}` : '';
  return `connecting ${settled} of ${total}${names}`;
}
