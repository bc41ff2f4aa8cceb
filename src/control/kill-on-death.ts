import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * A shell that hears by the end of its input that this process is gone, also by a signal that nobody can catch. Groups
 * are ended at once; a process of its own account has seen the end of its input too and gets a second to heed it.
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
  case $one in -*) kill -s KILL -- "$one" ;; *) late="$late $one" ;; esac
done
[ -z "$late" ] && exit
for how in TERM KILL; do
  sleep 1
  for one in $late; do kill -s $how -- "$one"; done
done`;

const held = new Set<number>();
let watcher: ChildProcess | undefined;

/**
 * Ends a process (its id), or a group (its leader's, negative), if this process dies before the returned function was
 * called, whatever it dies of. Signals and their listeners stay as they are: one other process watches for all, as
 * long as there is something to watch.
 */
export function killOnDeath(id: number): () => void {
  if (process.platform === 'win32') return () => {};
  held.add(id);
  if (watcher) tell(watcher, `hold ${id}\n`);
  else watcher = startWatcher();
  return () => {
    if (!held.delete(id) || !watcher) return;
    tell(watcher, `drop ${id}\n`);
    if (held.size > 0) return;
    watcher.stdin?.end();
    watcher = undefined;
  };
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
    if (watcher === child) watcher = undefined;
  };
  child.once('error', onGone).once('exit', onGone).unref();
  // Whoever ended it ended the watch only.
  child.stdin?.on('error', () => {});
  (child.stdin as Socket | undefined)?.unref();
  for (const id of held) tell(child, `hold ${id}\n`);
  return child;
}

function tell(child: ChildProcess, line: string): void {
  child.stdin?.write(line);
}
