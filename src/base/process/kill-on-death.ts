import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * A shell that hears by the end of its input that this process is gone, also by a signal that nobody can catch. Groups
 * are ended at once; a process of its own account, and a group that is held gently (`g`), has seen the end of its input
 * too: it gets a second to heed it, and one more after being asked.
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

/** What the watcher knows each of them by. */
const held = new Set<string>();
/** Those who are about to start something. */
let armed = 0;
let watcher: ChildProcess | undefined;
/** When a watcher that was gone was replaced last, by `performance.now()`. */
let replacedAt = Number.NEGATIVE_INFINITY;
/** One that is ended as soon as it is there is not started over and over. */
const APART_MS = 1000;

/**
 * Ends a process (its id), or a group (its leader's, negative), if this process dies before the returned function was
 * called, whatever it dies of. A group is ended at once, or `gently`, as a process is: asked after a second, made to
 * after another. Signals and their listeners stay as they are: one other process watches for all, as long as there is
 * something to watch.
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

/**
 * Has the watcher there before there is something to watch, until the returned function is called: starting it takes a
 * moment, in which this process might die.
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

/** The watcher is gone, and what it watched is still there. */
function replaceWatcher(): void {
  if (!isWanted()) return;
  const wait = Math.max(0, replacedAt + APART_MS - performance.now());
  setTimeout(() => {
    if (watcher || !isWanted()) return;
    replacedAt = performance.now();
    try {
      watcher = startWatcher();
    } catch {
      // There is no room for another process now.
      replaceWatcher();
    }
  }, wait).unref();
}

function startWatcher(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCH], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    // Out of reach of what ends the terminal's programs together with this one.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const onGone = () => {
    if (watcher !== child) return;
    watcher = undefined;
    replaceWatcher();
  };
  child.once('error', onGone).once('exit', onGone).unref();
  // Whoever ended it ended the watch only.
  child.stdin?.on('error', () => {});
  (child.stdin as Socket | undefined)?.unref();
  for (const one of held) writeLine(child, `hold ${one}\n`);
  return child;
}

function writeLine(child: ChildProcess, line: string): void {
  child.stdin?.write(line);
}
/** What must not outlive this process. One listener for all: many agents at once are no leak of listeners. */
const alive = new Set<() => void>();

const killAll = () => {
  for (const kill of alive) {
    try {
      kill();
    } catch {
      // A spawner's own kill that throws spares only its own process.
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
