import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { CLI } from '../../support/setup/built-package.ts';
import { CLI_ENV } from './run-cli.ts';
import { VirtualScreen } from './virtual-screen.ts';

/** `script` of util-linux runs a command in its own terminal; every Debian has it. */
const SCRIPT = 'script';
export const hasScript = spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
);

/** The command in its own terminal, which is closed at the end of the test. */
export class TerminalProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #size: { readonly columns: number; readonly rows: number };
  #printed = '';
  #seen = 0;
  /** The length of the output when keys were typed last. */
  #typedAt = -1;
  readonly closed: Promise<unknown[]>;

  /** `codeFile` receives the exit code of a process that outlives its terminal. */
  constructor(
    args: readonly string[],
    env: Record<string, string> = {},
    codeFile?: string,
    cwd?: string,
    size?: { readonly columns: number; readonly rows: number },
  ) {
    this.#size = size ?? { columns: 80, rows: 24 };
    const command = [process.execPath, CLI, ...args].map(quoted).join(' ');
    const sized = size === undefined ? command : `stty cols ${size.columns} rows ${size.rows}; ${command}`;
    const kept = codeFile === undefined ? sized : `trap '' HUP; ${command}; echo $? > ${quoted(codeFile)}`;
    this.#child = spawn(SCRIPT, ['-qec', kept, '/dev/null'], {
      cwd,
      env: { ...CLI_ENV, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    });
    this.closed = once(this.#child, 'close');
    this.#child.stdout.setEncoding('utf8').on('data', (text) => {
      this.#printed += text;
    });
    onTestFinished(() => void this.#child.kill());
  }

  /** Everything printed so far. */
  get printed(): string {
    return this.#printed;
  }

  /** What the terminal shows, with the rows that have scrolled out of it. */
  get screen(): string {
    // The rest of a sequence may arrive with the next chunk.
    const complete = this.#printed.replace(UNFINISHED, '');
    return new VirtualScreen(this.#size.columns, this.#size.rows).write(complete).text;
  }

  /** Waits until the terminal shows a text or matches a pattern, after an effect of the keys that were typed last. */
  async shows(what: string | RegExp): Promise<string> {
    for (;;) {
      const { screen } = this;
      const isShown = typeof what === 'string' ? screen.includes(what) : what.test(screen);
      if (isShown && this.#printed.length > this.#typedAt) return screen;
      await Promise.race([once(this.#child.stdout, 'data'), this.#gone(String(what))]);
    }
  }

  type(keys: string): void {
    this.#typedAt = this.#printed.length;
    this.#child.stdin.write(keys);
  }

  /** Closes the terminal, like closing its window. */
  hangUp(): void {
    this.#child.kill('SIGKILL');
  }

  async until(text: string): Promise<string> {
    for (;;) {
      const at = this.#printed.indexOf(text, this.#seen);
      if (at >= 0) {
        const passed = this.#printed.slice(this.#seen, at + text.length);
        this.#seen = at + text.length;
        return passed;
      }
      await Promise.race([once(this.#child.stdout, 'data'), this.#gone(text)]);
    }
  }

  async #gone(text: string): Promise<never> {
    await this.closed;
    throw new Error(`it ended without ${JSON.stringify(text)}: ${this.#printed}`);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The beginning of an escape sequence at the end of the output. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of terminals.
const UNFINISHED = /\u001b(?:\[[?\d;]*|\][^\u0007]*)?$/u;
