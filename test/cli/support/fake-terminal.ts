import { PassThrough, Writable } from 'node:stream';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { VirtualScreen } from './virtual-screen.ts';

/** A terminal for tests: types keys, waits for output, and advances the clock on demand. */
export class FakeTerminal implements Terminal {
  readonly input = new PassThrough();
  readonly output: Writable;
  readonly isInteractive: boolean;
  readonly hasColors: boolean;
  readonly isPlain: boolean;
  /** What drew attention to the terminal. */
  readonly notices: string[] = [];
  /** Delivers the signal of Ctrl-C, as a terminal in line mode does. */
  interrupt: () => void = () => {};
  /** Everything printed so far. */
  printed = '';
  #columns: number;
  readonly #rows: number;
  #onResize: (() => void) | undefined;
  #seen = 0;
  /** The length of the output when keys were typed last. */
  #typedAt = -1;
  #time = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #ticks = new Set<() => void>();

  constructor({ isInteractive = true, hasColors = false, isPlain = false, columns = 80, rows = 40 } = {}) {
    this.isInteractive = isInteractive;
    this.hasColors = hasColors;
    this.isPlain = isPlain;
    this.#columns = columns;
    this.#rows = rows;
    this.output = new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        this.printed += String(chunk);
        for (const wake of this.#waiting.splice(0)) wake();
        done();
      },
    });
  }

  readonly columns = (): number => this.#columns;
  readonly rows = (): number => this.#rows;
  readonly notify = (text: string): void => void this.notices.push(text);
  readonly now = (): number => this.#time;

  onResize(changed: () => void): Disposable {
    this.#onResize = changed;
    return { [Symbol.dispose]: () => {} };
  }

  /** Changes the width. */
  resize(columns: number): void {
    this.#columns = columns;
    this.#onResize?.();
  }

  every(_ms: number, tick: () => void): Disposable {
    this.#ticks.add(tick);
    return { [Symbol.dispose]: () => void this.#ticks.delete(tick) };
  }

  /** Advances the clock and calls each due timer once. */
  pass(ms: number): void {
    this.#time += ms;
    for (const tick of this.#ticks) tick();
  }

  /** What the terminal shows now. */
  get screen(): string {
    return new VirtualScreen(this.#columns).write(this.printed).text;
  }

  /**
   * Waits until the screen shows a text or matches a pattern, after an effect of the keys that were typed last. Returns the
   * screen.
   */
  async shows(what: string | RegExp): Promise<string> {
    for (;;) {
      const { screen } = this;
      if (this.printed.length <= this.#typedAt) {
        // The keys are not handled yet.
      } else if (typeof what === 'string' ? screen.includes(what) : what.test(screen)) return screen;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits for the prompt for a message, after the echo of what was typed. Returns the screen. */
  prompt(): Promise<string> {
    return this.shows(/─\n›[^\n]*\n[^\n]*$/);
  }

  type(keys: string): void {
    this.#typedAt = this.printed.length;
    this.input.write(keys);
  }

  /** Waits for text after the last awaited text; returns the output up to it. */
  async until(text: string): Promise<string> {
    for (;;) {
      const at = this.printed.indexOf(text, this.#seen);
      if (at >= 0) {
        const passed = this.printed.slice(this.#seen, at + text.length);
        this.#seen = at + text.length;
        return passed;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const UP = '\u001b[A';
/** The keys of a paste in bracketed paste mode. */
export const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;
