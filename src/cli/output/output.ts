import { Console } from 'node:console';
import { syncBuiltinESMExports } from 'node:module';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { WriteStream } from 'node:tty';
import type { SpinnerTerminal } from '../terminal/spinner.ts';
import { sanitize } from '../terminal/terminal-text.ts';
import { isReaderGone } from './output-errors.ts';

/** The output of a command: results on stdout, everything else on stderr. */
export interface Output {
  /** The width of the terminal, or `COLUMNS`; undefined if neither is known. */
  readonly columns: number | undefined;
  /** Prints text unchanged to a pipe, and with visible control characters to a terminal. */
  print(text: string): Promise<void>;
  /** Prints one line to stderr. */
  report(line: string): void;
  readonly spinnerTerminal: SpinnerTerminal;
}

/** The streams of this process; `onGone` is called when the reader of stdout has closed it. */
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

/** The width that the shell reports in `COLUMNS`. */
function givenColumns({ COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  return COLUMNS !== undefined && /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : undefined;
}

/** Calls `onGone` when the reader has closed the stream; main.ts reports every other error. */
function watchReader(stream: Writable, onGone: () => void): void {
  stream.on('error', (cause: NodeJS.ErrnoException) => {
    if (isReaderGone(cause)) onGone();
  });
}

/** Resolves when the text is written, or cannot be written. */
function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}

/** Reserves stdout for a protocol: everything else that the process prints goes to stderr from now on. */
export function claimStdout(): Writable {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });
  globalThis.console = new Console(stderr, stderr);
  // For `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return stdout;
}

/** Resolves when everything written before is flushed, or cannot be. */
export function flushed(stream: Writable): Promise<void> {
  // An ended stream accepts no write, not even an empty one.
  if (stream.writableEnded) return finished(stream, { readable: false }).catch(() => {});
  return new Promise((resolve) => stream.write('', () => resolve()));
}
