import type { Readable, Writable } from 'node:stream';

/** A terminal; tests supply their own streams and clock. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Input and output are a terminal, so that questions can be asked. */
  readonly isInteractive: boolean;
  readonly hasColors: boolean;
  /** Output is linear: nothing is redrawn, and the terminal edits lines (`--plain`). */
  readonly isPlain: boolean;
  /** The current width. */
  columns(): number;
  /** The current height. */
  rows(): number;
  /** Calls `changed` when the size changes, until the result is disposed of. */
  onResize(changed: () => void): Disposable;
  /** Draws attention to the terminal while its user looks at something else. The text is shown by some terminals. */
  notify(text: string): void;
  now(): number;
  /** Calls `tick` periodically until the result is disposed of. */
  every(ms: number, tick: () => void): Disposable;
}

/**
 * The terminal of this process; `NO_COLOR` in `env` turns colors off (https://no-color.org). A terminal that cannot move
 * the cursor (`TERM=dumb`) is plain.
 */
export function processTerminal(
  env: NodeJS.ProcessEnv,
  choice: { readonly plain?: boolean; readonly bell?: boolean } = {},
): Terminal {
  const { stdin, stdout } = process;
  const isPlain = choice.plain === true || env.TERM === 'dumb';
  return {
    input: stdin,
    output: stdout,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    hasColors: stdout.isTTY === true && !env.NO_COLOR && !isPlain,
    isPlain,
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
    onResize(changed) {
      stdout.on('resize', changed);
      return { [Symbol.dispose]: () => void stdout.off('resize', changed) };
    },
    notify(text) {
      // A bell, and the notification that several terminals show (OSC 9).
      if (stdout.isTTY && choice.bell !== false)
        stdout.write(isPlain ? '\u0007' : `\u001b]9;${text}\u0007\u0007`);
    },
    now: () => performance.now(),
    every(ms, tick) {
      const timer = setInterval(tick, ms);
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
  };
}
