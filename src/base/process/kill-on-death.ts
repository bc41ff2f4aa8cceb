import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ProcessGroup } from './process-group.ts';

/**
 * Watchdog script. The end of its stdin means that this process has ended, even by SIGKILL. It kills groups at once. A
 * single process, and a group marked `g`, has seen its own stdin end: it gets SIGTERM after a second and SIGKILL after
 * another.
 */
const WATCH = `
held=
while read -r what id; do
  rest=
  for one in $held; do [ "$one" = "$id" ] || rest="$rest $one"; done
  held=$rest
  [ "$what" = hold ] && held="$held $id"
done
late=
for one in $held; do
  case $one in -*) kill -s KILL -- "$one" ;; *) late="$late \${one#g}" ;; esac
done
[ -z "$late" ] && exit
for how in TERM KILL; do
  sleep 1
  for one in $late; do kill -s $how -- "$one"; done
done`;

/** Registered processes and groups, in the watchdog's notation. */
const held = new Set<string>();
/** Number of callers that are about to start a process. */
let armed = 0;
let watcher: ChildProcess | undefined;
/** When the watchdog was last restarted, by `performance.now()`. */
let replacedAt = Number.NEGATIVE_INFINITY;
/** Minimum time between restarts of the watchdog. */
const APART_MS = 1000;

/**
 * Ends a process (its id) or a process group (the leader's id, negative) if this process dies, for any reason, before
 * the returned function is called. A group is killed at once, or `gently` like a process: SIGTERM after a second,
 * SIGKILL after another. No signal listeners are added: one watchdog process serves all registrations.
 */
export function killOnDeath(id: number, how: 'at-once' | 'gently' = 'at-once'): () => void {
  if (process.platform === 'win32') return () => {};
  const one = how === 'gently' && id < 0 ? `g${id}` : String(id);
  held.add(one);
  if (watcher) writeLine(watcher, `hold ${one}\n`);
  else watcher = startWatcher();
  return () => {
    if (!held.delete(one) || !watcher) return;
    writeLine(watcher, `drop ${one}\n`);
    dismissIdle();
  };
}

/** Ends a group at once if this process exits or is killed before the returned function is called. */
export function endWithHost(group: ProcessGroup): () => void {
  const releases = [killOnExit(() => group.signal('SIGKILL')), killOnDeath(-group.leader)];
  return () => {
    for (const release of releases) release();
  };
}

/**
 * Keeps the watchdog running until the returned function is called. Call it before starting a process, since this
 * process could die while the watchdog starts.
 */
export function armKillOnDeath(): () => void {
  if (process.platform === 'win32') return () => {};
  watcher ??= startWatcher();
  armed++;
  return () => {
    armed--;
    dismissIdle();
  };
}

function dismissIdle(): void {
  if (isWanted()) return;
  watcher?.stdin?.end();
  watcher = undefined;
}

function isWanted(): boolean {
  return held.size > 0 || armed > 0;
}

/** Restarts a watchdog that was killed while something is registered. */
function replaceWatcher(): void {
  if (!isWanted()) return;
  const wait = Math.max(0, replacedAt + APART_MS - performance.now());
  setTimeout(() => {
    if (watcher || !isWanted()) return;
    replacedAt = performance.now();
    try {
      watcher = startWatcher();
    } catch {
      // The process limit is reached; try again later.
      replaceWatcher();
    }
  }, wait).unref();
}

function startWatcher(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCH], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    // Its own group, so that Ctrl+C or a closing terminal does not reach the watchdog.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const onGone = () => {
    if (watcher !== child) return;
    watcher = undefined;
    replaceWatcher();
  };
  child.once('error', onGone).once('exit', onGone).unref();
  // EPIPE: the watchdog was killed; `onGone` restarts it.
  child.stdin?.on('error', () => {});
  (child.stdin as Socket | undefined)?.unref();
  for (const one of held) writeLine(child, `hold ${one}\n`);
  return child;
}

function writeLine(child: ChildProcess, line: string): void {
  child.stdin?.write(line);
}
/** Callbacks to run at exit. One shared listener, so that many agents do not trigger a listener-leak warning. */
const alive = new Set<() => void>();

const killAll = () => {
  for (const kill of alive) {
    try {
      kill();
    } catch {
      // A custom spawner's kill may throw; the other processes are still killed.
    }
  }
};

/** Calls `kill` if this process exits before the returned function was called. */
export function killOnExit(kill: () => void): () => void {
  if (alive.size === 0) process.on('exit', killAll);
  alive.add(kill);
  return () => {
    if (alive.delete(kill) && alive.size === 0) process.off('exit', killAll);
  };
}
