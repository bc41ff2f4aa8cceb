import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isGroupRunning, signalGroup } from '../../base/process-group.ts';
import { killOnExit } from '../../control/kill-on-exit.ts';
import { HeadTail } from './head-tail.ts';

export type ShellEnd = {
  /** Both streams, in the order they were written. */
  readonly output: string;
  readonly how:
    | { readonly kind: 'exited'; readonly code: number }
    | { readonly kind: 'killed'; readonly signal: string }
    | { readonly kind: 'timed-out' | 'aborted' }
    | { readonly kind: 'not-started'; readonly fault: string };
  /** The process group, when the command ended of itself and something it started in the background did not. */
  readonly leftRunning?: number;
};

type Surroundings = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
};

const MOST_OUTPUT = 30_000;
/** What a group gets between being asked and being made to end. */
const GRACE_MS = 1000;
/** What is in the pipe when the command has ended comes at once; who holds it open longer runs in the background. */
const DRAIN_MS = 300;
const LOOK_EVERY_MS = 25;

/**
 * The command writes both streams into one pipe, which keeps their order. It is a pipe of the shell, since what node
 * makes is a socket, which no program can open as /dev/stdout. The exit code comes by descriptor 3: the shell itself
 * ends only with the last who holds the pipe. `cat` outlives being asked to end, for what is said while ending.
 */
const START =
  'command -v bash >/dev/null && shell=bash || shell=sh; ' +
  '{ $shell -c "$0" 2>&1 3>&-; echo $? >&3; } | (trap "" TERM; exec cat 3>&-)';

/**
 * Runs a command in a process group of its own. On a time-out or an abort the whole group is ended before this
 * resolves; only what left the group on purpose (`setsid`) escapes.
 */
export async function runShell(
  command: string,
  around: Surroundings,
  signal: AbortSignal,
): Promise<ShellEnd> {
  const timedOut = AbortSignal.timeout(around.limitMs);
  const cutOff = AbortSignal.any([signal, timedOut]);
  const output = new HeadTail(MOST_OUTPUT);
  const child = start(command, around);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const { fault, ended, how } = endOf(child);
  const group = child.pid;
  if (group === undefined) {
    return { output: '', how: { kind: 'not-started', fault: `${await fault} in ${around.cwd}` } };
  }
  const release = killOnExit(() => signalGroup(group, 'SIGKILL'));
  await unlessAborted(ended, cutOff);
  if (cutOff.aborted) {
    await endGroup(group);
    release();
    child.stdout?.destroy();
    return { output: String(output), how: { kind: signal.aborted ? 'aborted' : 'timed-out' } };
  }
  if (await isGone(group, DRAIN_MS)) {
    release();
    return { output: String(output), how: how() };
  }
  letGo(child, group, release);
  return { output: String(output), how: how(), leftRunning: group };
}

function start(command: string, { cwd, env }: Surroundings): ChildProcess {
  return spawn('/bin/sh', ['-c', START, command], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
}

function endOf(child: ChildProcess) {
  const fault = Promise.withResolvers<string>();
  const over = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let code = '';
  let shell: ShellEnd['how'] = { kind: 'killed', signal: 'a signal' };
  child.once('error', ({ message }) => fault.resolve(message));
  child.stdio[3]?.on('data', (bytes: Buffer) => {
    code += bytes.toString();
    if (code.endsWith('\n')) over.resolve();
  });
  child.once('exit', (status, signal) => {
    shell =
      status === null ? { kind: 'killed', signal: signal ?? 'a signal' } : { kind: 'exited', code: status };
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

/** Asks all of the group to end, and after the grace makes them. */
async function endGroup(group: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  if (await isGone(group, GRACE_MS)) return;
  signalGroup(group, 'SIGKILL');
  await isGone(group, DRAIN_MS);
}

async function isGone(group: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += LOOK_EVERY_MS) {
    if (!isGroupRunning(group)) return true;
    await delay(LOOK_EVERY_MS);
  }
  return !isGroupRunning(group);
}

/**
 * What was left running may write on, heard by nobody: closing its pipe would kill it. It must not outlive this
 * process, and a group that has ended must be forgotten before another program is given its number.
 */
function letGo(child: ChildProcess, group: number, release: () => void): void {
  child.stdout?.removeAllListeners('data').resume();
  for (const pipe of [child.stdio[1], child.stdio[3]]) (pipe as Socket).unref();
  child.unref();
  const look = setInterval(() => {
    if (isGroupRunning(group)) return;
    clearInterval(look);
    release();
  }, 1000);
  look.unref();
}
