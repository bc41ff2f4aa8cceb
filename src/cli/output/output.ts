import { Console } from 'node:console';
import { syncBuiltinESMExports } from 'node:module';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { WriteStream } from 'node:tty';
import type { SpinnerTerminal } from '../terminal/spinner.ts';
import { sanitize } from '../terminal/text.ts';
import { isReaderGone } from './output-errors.ts';

/** Where a command prints: what was asked for on stdout, everything else on stderr. */
export interface Output {
  /** The width of the terminal that is printed on; undefined if it is none and no width is asked for. */
  readonly columns: number | undefined;
  /** Text as it came: a pipe gets every byte, a terminal is shown control characters as visible ones. */
  print(text: string): Promise<void>;
  /** One line for people. */
  report(line: string): void;
  readonly spinnerTerminal: SpinnerTerminal;
}

/** The streams of this process; `onGone` hears that nobody reads any more. */
export function processOutput(env: NodeJS.ProcessEnv, onGone: () => void): Output {
  const { stdout, stderr } = process;
  watchReader(stdout, onGone);
  watchReader(stderr, () => {});
  return {
    columns: stdout.isTTY ? stdout.columns || 80 : givenColumns(env),
    print: (text) => write(stdout, stdout.isTTY ? sanitize(text) : text),
    report: (line) => void stderr.write(`toolplane: ${sanitize(line)}\n`),
    spinnerTerminal: spinnerTerminal(stderr, env),
  };
}

function spinnerTerminal(output: WriteStream, env: NodeJS.ProcessEnv): SpinnerTerminal {
  return {
    output,
    isInteractive: output.isTTY === true && env.TERM !== 'dumb',
    columns: () => output.columns || 80,
    now: () => performance.now(),
    every(ms, tick) {
      const timer = setInterval(tick, ms);
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
  };
}

/** Shells tell their width to those who ask for it. */
function givenColumns({ COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  return COLUMNS !== undefined && /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : undefined;
}

/** Calls `onGone` once the reader is gone; main.ts reports every other error. */
function watchReader(stream: Writable, onGone: () => void): void {
  stream.on('error', (cause: NodeJS.ErrnoException) => {
    if (isReaderGone(cause)) onGone();
  });
}

/** Resolves once it is handed over, also if it never can be. */
function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}

/** Takes stdout for a protocol, where one stray line would break it: whatever others print from now on goes to stderr. */
export function claimStdout(): Writable {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });
  globalThis.console = new Console(stderr, stderr);
  // For `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return stdout;
}

/** Resolves once everything written before is handed over, or never can be. */
export function flushed(stream: Writable): Promise<void> {
  // A stream that was ended takes no more, not even nothing.
  if (stream.writableEnded) return finished(stream, { readable: false }).catch(() => {});
  return new Promise((resolve) => stream.write('', () => resolve()));
}
