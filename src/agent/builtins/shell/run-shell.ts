import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { killOnDeath, killOnExit } from '../../../base/process/kill-on-death.ts';
import { ProcessGroup } from '../../../base/process/process-group.ts';
import type { BackgroundProcesses } from './background-processes.ts';

export type ShellEnd = {
  /** Both streams, in the order they were written. */
  readonly output: string;
  readonly how:
    | { readonly kind: 'exited'; readonly code: number }
    | { readonly kind: 'killed'; readonly signal: string }
    | { readonly kind: 'timed-out' | 'aborted' }
    | { readonly kind: 'not-started'; readonly fault: string };
  /** The process group, if the command ended and left processes running in the background. */
  readonly leftRunning?: number;
};

type ShellOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly background: BackgroundProcesses;
};

const MAX_OUTPUT = 30_000;
/** Time to drain the pipe after the command ended; a process that holds it open longer runs in the background. */
const DRAIN_MS = 300;

/**
 * The command writes both streams into one pipe, which keeps their order. The shell creates the pipe, because Node would
 * use a socket, which programs cannot open as /dev/stdout. The exit code is sent on descriptor 3, because the shell exits
 * only after the last process has closed the pipe. `cat` ignores SIGTERM, so that output during termination is not lost.
 * The shell waits for a line on descriptor 3, so that nothing runs before its termination with the host is arranged.
 */
const START =
  'read -r _ <&3 || exit; ' +
  'command -v bash >/dev/null && shell=bash || shell=sh; ' +
  'trap "" TERM; { trap - TERM; $shell -c "$0" 2>&1 3>&-; echo $? >&3; } | exec cat 3>&-';

/**
 * Runs a command in a process group of its own. On a time-out or an abort the whole group is ended before this resolves,
 * except processes that left the group with `setsid`.
 */
export async function runShell(
  command: string,
  options: ShellOptions,
  signal: AbortSignal,
): Promise<ShellEnd> {
  const timedOut = AbortSignal.timeout(options.limitMs);
  const cutOff = AbortSignal.any([signal, timedOut]);
  const output = new HeadTail(MAX_OUTPUT);
  const child = start(command, options);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const { fault, ended, how } = endOf(child);
  if (child.pid === undefined) {
    return { output: '', how: { kind: 'not-started', fault: `${await fault} in ${options.cwd}` } };
  }
  const group = new ProcessGroup(child.pid);
  const release = endWithHost(group);
  (child.stdio[3] as Socket).write('go\n');
  await unlessAborted(ended, cutOff);
  if (cutOff.aborted) {
    await group.end();
    release();
    child.stdout?.destroy();
    return { output: String(output), how: { kind: signal.aborted ? 'aborted' : 'timed-out' } };
  }
  if (await group.isGone(DRAIN_MS)) {
    release();
    return { output: String(output), how: how() };
  }
  detach(child);
  options.background.add(group, release);
  return { output: String(output), how: how(), leftRunning: group.leader };
}

function start(command: string, { cwd, env }: ShellOptions): ChildProcess {
  return spawn('/bin/sh', ['-c', START, command], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
}

/** Ends the group when the host exits, and through the watchdog when the host is killed. */
function endWithHost(group: ProcessGroup): () => void {
  const releases = [killOnExit(() => group.signal('SIGKILL')), killOnDeath(-group.leader)];
  return () => {
    for (const release of releases) release();
  };
}

function endOf(child: ChildProcess) {
  const fault = Promise.withResolvers<string>();
  const over = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let code = '';
  let shell: ShellEnd['how'] = { kind: 'killed', signal: 'a signal' };
  child.once('error', ({ message }) => fault.resolve(message));
  // A shell that was killed before its start signal closes the descriptor.
  child.stdio[3]?.on('error', () => {});
  child.stdio[3]?.on('data', (bytes: Buffer) => {
    code += bytes.toString();
    if (code.endsWith('\n')) over.resolve();
  });
  child.once('exit', (status, signal) => {
    if (signal !== null) shell = { kind: 'killed', signal };
    // Status 0 without a code on descriptor 3 means that the inner shell was killed.
    else if (status) shell = { kind: 'exited', code: status };
    over.resolve();
  });
  child.once('close', () => closed.resolve());
  const drained = () => Promise.race([closed.promise, delay(DRAIN_MS, undefined, { ref: false })]);
  return {
    fault: fault.promise,
    ended: over.promise.then(drained),
    how: (): ShellEnd['how'] => (code === '' ? shell : { kind: 'exited', code: Number(code) }),
  };
}

async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = Promise.withResolvers<void>();
  const onAbort = () => aborted.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  await Promise.race([work, aborted.promise]);
  signal.removeEventListener('abort', onAbort);
}

/** Keeps the pipe of a background process open and drained: closing it would kill the process. */
function detach(child: ChildProcess): void {
  child.stdout?.removeAllListeners('data').resume();
  for (const pipe of [child.stdio[1], child.stdio[3]]) (pipe as Socket).unref();
  child.unref();
}

/** Keeps the beginning and the end of a text that arrives in pieces, with bounded memory. */
export class HeadTail {
  readonly #half: number;
  #head = '';
  #tail = '';
  #leftOut = 0;

  /** `capacity` in characters, half of it for each end. */
  constructor(capacity: number) {
    this.#half = Math.floor(capacity / 2);
  }

  push(piece: string): void {
    const room = this.#half - this.#head.length;
    this.#head += piece.slice(0, room);
    this.#tail += piece.slice(room);
    // Not for every piece, because each trim copies the whole tail.
    if (this.#tail.length > this.#half * 2) this.#trim();
  }

  toString(): string {
    this.#trim();
    if (this.#leftOut === 0) return this.#head + this.#tail;
    const note = `[${this.#leftOut} characters omitted]`;
    return `${this.#head}\n\n${note}\n\n${this.#tail}`.toWellFormed();
  }

  #trim(): void {
    const excess = this.#tail.length - this.#half;
    if (excess <= 0) return;
    this.#leftOut += excess;
    this.#tail = this.#tail.slice(excess);
  }
}
