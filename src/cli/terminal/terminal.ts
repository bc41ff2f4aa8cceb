import type { Readable, Writable } from 'node:stream';

/** Where a chat takes place. Tests bring streams and a clock of their own. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** A person is there: keys come one by one, questions can be asked. */
  readonly isInteractive: boolean;
  readonly hasColors: boolean;
  /** The width now. */
  columns(): number;
  now(): number;
  /** Calls `tick` again and again until it is disposed of. */
  every(ms: number, tick: () => void): Disposable;
}

/** The terminal of this process; `env` says whether colours are wanted (https://no-color.org). */
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
