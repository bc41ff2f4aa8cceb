import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithHost } from '../../../base/process/kill-on-death.ts';
import { ProcessGroup } from '../../../base/process/process-group.ts';
import type { OutputSpool } from './output-spool.ts';

/** How a command ended. */
export type ShellEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  /** `stop()` ended it. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'not-started'; readonly fault: string };

type ShellOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives both streams, in the order they were written. */
  readonly output: OutputSpool;
};

/** Time to drain the pipe after the command ended; a process that holds it open longer runs in the background. */
const DRAIN_MS = 300;

/**
 * The command writes both streams into one pipe, which keeps their order. The shell creates the pipe, because Node would
 * use a socket, which programs cannot open as /dev/stdout. The exit code is sent on descriptor 3, because the shell exits
 * only after the last process has closed the pipe; the directory in which the command ended precedes it. `cat` ignores
 * SIGTERM, so that output during termination is not lost. The shell waits for a line on descriptor 3, so that the
 * command starts only after its termination with the host has been arranged.
 */
const START =
  'read -r _ <&3 || exit; ' +
  'command -v bash >/dev/null && shell=bash || shell=sh; ' +
  `trap "" TERM; { trap - TERM; $shell -c '_command=$1; shift; trap "pwd -P >&9" EXIT; eval "unset _command; $_command"' ` +
  '"$shell" "$0" 2>&1 9>&3 3>&-; echo "=$?" >&3; } | exec cat 3>&-';

/** A command in a process group of its own, which ends with the host. */
export class ShellCommand {
  readonly #child: ChildProcess;
  readonly #group: ProcessGroup | undefined;
  readonly #release: () => void;
  readonly #output: OutputSpool;
  #isStopped = false;
  /** Settles when the command has ended; processes that it started may still run. */
  readonly ended: Promise<ShellEnd>;
  /** The directory in which the command ended, if it is known. */
  directory: string | undefined;

  constructor(command: string, { cwd, env, output }: ShellOptions) {
    this.#output = output;
    this.#child = spawn('/bin/sh', ['-c', START, command], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
    this.#group = this.#child.pid === undefined ? undefined : new ProcessGroup(this.#child.pid);
    this.#release = this.#group ? endWithHost(this.#group) : () => {};
    this.ended = this.#watch(cwd);
    // The command starts only now, after its termination with the host has been arranged.
    if (this.#group) (this.#child.stdio[3] as Socket).write('go\n');
  }

  /** Ends the whole group; processes that left it with `setsid` or `set -m` are not ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#group?.end();
    this.#release();
    this.#child.stdout?.destroy();
    await this.ended;
  }

  /**
   * Returns the process group of an ended command if processes of the group still run: the caller has to end them, and
   * their further output is discarded. Undefined if none run.
   */
  async leftRunning(): Promise<{ readonly group: ProcessGroup; release(): void } | undefined> {
    if (!this.#group || this.#isStopped) return undefined;
    if (await this.#group.isGone(DRAIN_MS)) {
      this.#release();
      return undefined;
    }
    detach(this.#child);
    return { group: this.#group, release: this.#release };
  }

  async #watch(cwd: string): Promise<ShellEnd> {
    const child = this.#child;
    const fault = Promise.withResolvers<ShellEnd>();
    const over = Promise.withResolvers<ShellEnd>();
    const closed = Promise.withResolvers<void>();
    let sent = '';
    child.once('error', ({ message }) =>
      fault.resolve({ kind: 'not-started', fault: `${message} in ${cwd}` }),
    );
    // A shell that was killed before its start signal closes the descriptor.
    child.stdio[3]?.on('error', () => {});
    child.stdio[3]?.on('data', (bytes: Buffer) => {
      sent += bytes.toString();
      const [, directory, code] = /^(?:([\s\S]*)\n)?=(\d+)\n$/.exec(sent) ?? [];
      if (code === undefined) return;
      this.directory = directory;
      over.resolve({ kind: 'exited', code: Number(code) });
    });
    const reported = Promise.withResolvers<void>();
    child.stdio[3]?.once('close', () => reported.resolve());
    child.once('exit', async (status, signal) => {
      // The exit event may arrive while the exit code is still in the pipe.
      if (status === 0 && !this.#isStopped)
        await Promise.race([reported.promise, delay(DRAIN_MS, undefined, { ref: false })]);
      // Status 0 without a code on descriptor 3 means that the inner shell was killed.
      if (signal !== null || !status) over.resolve({ kind: 'killed', signal: signal ?? 'a signal' });
      else over.resolve({ kind: 'exited', code: status });
    });
    child.once('close', () => closed.resolve());
    const how = await Promise.race([fault.promise, over.promise]);
    if (how.kind !== 'not-started')
      await Promise.race([closed.promise, delay(DRAIN_MS, undefined, { ref: false })]);
    await this.#output.flushed();
    return this.#isStopped ? { kind: 'stopped' } : how;
  }
}

/** Keeps the pipe of a background process open and drained: closing it would kill the process. */
function detach(child: ChildProcess): void {
  child.stdout?.removeAllListeners('data').resume();
  for (const pipe of [child.stdio[1], child.stdio[3]]) (pipe as Socket).unref();
  child.unref();
}
