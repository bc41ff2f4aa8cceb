import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TASKSET } from './processors.ts';

/** The project's own directory. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));

export type RunOptions = {
  /** Flags of the runtime itself. */
  nodeArgs?: readonly string[];
  cwd?: string;
  /** The only processor the child and its children may use. */
  processor?: number | undefined;
};

/** A driver that stays, so that several can be measured by turns while all of them are warm. */
export type Conversation<Report> = AsyncDisposable & { ask(question: unknown): Promise<Report> };

/** Longest a single child may take, in milliseconds. */
const LIMIT_MS = 20 * 60_000;

/** A place to run children in: a home of its own, an environment without anything of this machine. */
export class Lab implements Disposable {
  readonly #home = mkdtempSync(join(tmpdir(), 'toolplane-bench-'));

  /** Runs this very node to its end and gives its stdout; anything but a clean exit throws. */
  run(
    args: readonly string[],
    { nodeArgs = [], cwd = this.#home, processor }: RunOptions = {},
  ): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const options = { cwd, env: this.#environment(), timeout: LIMIT_MS, maxBuffer: 1 << 26 };
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

  /** Starts a program of `drivers/` that answers each line it is given with a report, as long as it is asked. */
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
      timeout: LIMIT_MS,
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

  /** `node` on this PATH is the one that runs the benchmark: both packages start a script with it. */
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
