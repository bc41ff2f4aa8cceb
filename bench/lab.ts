import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
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
    const node = [process.execPath, ...nodeArgs, ...args];
    const bound = processor === undefined ? node : [TASKSET, '-c', String(processor), ...node];
    const [command = '', ...rest] = bound;
    execFile(command, rest, options, (fault, stdout, stderr) => {
      if (fault) reject(new Error(`${fault.message}\n${stdout}${stderr}`, { cause: fault }));
      else resolve(stdout);
    });
    return promise;
  }

  /** Runs a program of `drivers/`, which prints its report as JSON. */
  async drive<Report>(driver: string, args: readonly unknown[], options?: RunOptions): Promise<Report> {
    const file = fileURLToPath(new URL(`drivers/${driver}.ts`, import.meta.url));
    return JSON.parse(await this.run([file, ...args.map((arg) => JSON.stringify(arg))], options)) as Report;
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
