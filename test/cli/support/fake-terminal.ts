import { PassThrough, Writable } from 'node:stream';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';

/** A terminal for tests: types keys, waits for output, and advances the clock on demand. */
export class FakeTerminal implements Terminal {
  readonly input = new PassThrough();
  readonly output: Writable;
  readonly isInteractive: boolean;
  readonly hasColors: boolean;
  /** Everything printed so far. */
  printed = '';
  #columns: number;
  #seen = 0;
  #time = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #ticks = new Set<() => void>();

  constructor({ isInteractive = true, hasColors = false, columns = 80 } = {}) {
    this.isInteractive = isInteractive;
    this.hasColors = hasColors;
    this.#columns = columns;
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
  readonly now = (): number => this.#time;

  every(_ms: number, tick: () => void): Disposable {
    this.#ticks.add(tick);
    return { [Symbol.dispose]: () => void this.#ticks.delete(tick) };
  }

  /** Advances the clock and calls each due timer once. */
  pass(ms: number): void {
    this.#time += ms;
    for (const tick of this.#ticks) tick();
  }

  type(keys: string): void {
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
