import type { Readable, Writable } from 'node:stream';

/** A terminal; tests supply their own streams and clock. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Input and output are a terminal, so that questions can be asked. */
  readonly isInteractive: boolean;
  readonly hasColors: boolean;
  /** The current width. */
  columns(): number;
  now(): number;
  /** Calls `tick` periodically until the result is disposed of. */
  every(ms: number, tick: () => void): Disposable;
}

/** The terminal of this process; `NO_COLOR` in `env` turns colors off (https://no-color.org). */
export function processTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdin, stdout } = process;
  return {
    input: stdin,
    output: stdout,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    hasColors: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    columns: () => stdout.columns || 80,
    now: () => performance.now(),
    every(ms, tick) {
      const timer = setInterval(tick, ms);
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
  };
}
