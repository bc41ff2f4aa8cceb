import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TASKSET } from './processors.ts';

/** The root directory of the project. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));

export type RunOptions = {
  /** Flags of Node. */
  nodeArgs?: readonly string[];
  cwd?: string;
  /** The processor that the child and its children are bound to. */
  processor?: number | undefined;
};

/** A driver that keeps running, so that several warm drivers can be measured in turns. */
export type Conversation<Report> = AsyncDisposable & { ask(question: unknown): Promise<Report> };

/** Timeout of a child process. */
const TIMEOUT_MS = 20 * 60_000;

/** Runs child processes with a temporary home directory and a minimal environment. */
export class Lab implements Disposable {
  readonly #home = mkdtempSync(join(tmpdir(), 'toolplane-bench-'));

  /** Runs Node until it exits and returns its stdout; throws unless it exits with 0. */
  run(
    args: readonly string[],
    { nodeArgs = [], cwd = this.#home, processor }: RunOptions = {},
  ): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const options = { cwd, env: this.#environment(), timeout: TIMEOUT_MS, maxBuffer: 1 << 26 };
    const [command = '', ...rest] = bound([process.execPath, ...nodeArgs, ...args], processor);
    execFile(command, rest, options, (fault, stdout, stderr) => {
      if (fault) reject(new Error(`${fault.message}\n${stdout}${stderr}`, { cause: fault }));
      else resolve(stdout);
    });
    return promise;
  }

  /** Runs a program of `drivers/`, which prints its report as JSON. */
  async drive<Report>(driver: string, args: readonly unknown[], options?: RunOptions): Promise<Report> {
    return JSON.parse(await this.run(driverArgs(driver, args), options)) as Report;
  }

  /** Starts a program of `drivers/` that answers each line on stdin with a report, until stdin ends. */
  converse<Report>(
    driver: string,
    args: readonly unknown[],
    { nodeArgs = [], processor }: RunOptions = {},
  ): Conversation<Report> {
    const node = [process.execPath, ...nodeArgs, ...driverArgs(driver, args)];
    const [command = '', ...rest] = bound(node, processor);
    const child = spawn(command, rest, {
      cwd: this.#home,
      env: this.#environment(),
      timeout: TIMEOUT_MS,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    return {
      async ask(question) {
        child.stdin.write(`${JSON.stringify(question)}\n`);
        const { value, done } = await lines.next();
        if (done) throw new Error(`the driver "${driver}" ended before it reported`);
        return JSON.parse(value) as Report;
      },
      async [Symbol.asyncDispose]() {
        const gone = child.exitCode === null ? once(child, 'exit') : undefined;
        child.stdin.end();
        await gone;
      },
    };
  }

  /** Wall time of a whole process, in milliseconds. */
  async time(args: readonly string[], options?: RunOptions): Promise<number> {
    const since = performance.now();
    await this.run(args, options);
    return performance.now() - since;
  }

  [Symbol.dispose](): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** `node` on this PATH is the Node of the benchmark: both packages start scripts with it. */
  #environment(): NodeJS.ProcessEnv {
    const path = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    return { PATH: path, HOME: this.#home, TMPDIR: this.#home };
  }
}

function driverArgs(driver: string, args: readonly unknown[]): string[] {
  const file = fileURLToPath(new URL(`./drivers/${driver}.ts`, import.meta.url));
  return [file, ...args.map((arg) => JSON.stringify(arg))];
}

function bound(command: readonly string[], processor: number | undefined): readonly string[] {
  return processor === undefined ? command : [TASKSET, '-c', String(processor), ...command];
}
