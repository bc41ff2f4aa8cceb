import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('busy-http.mjs', import.meta.url));

/** A single-threaded server in its own process: while its tool works, it answers nothing else. */
export class BusyServer implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  static async open(): Promise<BusyServer> {
    const child = fork(PROGRAM, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [port] = (await once(child, 'message')) as [number];
    return new BusyServer(child, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
  }
}
