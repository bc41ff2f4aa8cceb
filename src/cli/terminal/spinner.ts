import type { StartProgress } from '../../mcp/servers/servers-options.ts';
import type { Terminal } from './terminal.ts';
import { sanitizeLine, truncateToWidth } from './text.ts';

/** Where a spinner turns. */
export type SpinnerTerminal = Pick<Terminal, 'output' | 'isInteractive' | 'columns' | 'now' | 'every'>;

/** What is over sooner is not worth a flicker. */
const SHOW_AFTER_MS = 300;
const TICK_MS = 80;
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const CLEAR_LINE = '\r\u001b[2K';

/** One line that tells what is waited for; only for people, only if it takes long, and it leaves no trace. */
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

  /** From now on this is waited for; `text` is asked for at every turn. */
  show(text: () => string): void {
    if (!this.#place.isInteractive) return;
    this.#text = text;
    this.#since = this.#place.now();
    this.#timer ??= this.#place.every(TICK_MS, () => this.#turn());
  }

  /** Nothing is waited for any more, and something is to be printed. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#text = undefined;
    this.#paused = undefined;
    if (this.#isShown) this.#place.output.write(CLEAR_LINE);
    this.#isShown = false;
  }

  /** Hides the line while something else has the terminal, and shows it again after that unless it was stopped. */
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

/** The spinner's line at one tick, cut so that it never wraps. */
export function frame(tick: number, text: string, columns: number): string {
  return truncateToWidth(`${FRAMES[tick % FRAMES.length]} ${sanitizeLine(text)}`, Math.max(1, columns - 1));
}

/** How far the start of the servers is. */
export function formatProgress({ settled, total, waitingFor }: StartProgress): string {
  const names = waitingFor.length > 0 ? `: ${waitingFor.join(', ')}` : '';
  return `connecting ${settled} of ${total}${names}`;
}
