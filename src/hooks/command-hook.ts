import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { killOnDeath } from '../base/process/kill-on-death.ts';
import { ProcessGroup } from '../base/process/process-group.ts';
import type { CommandEnd } from './command-output.ts';
import type { HookContext } from './run-hooks.ts';

/** Output beyond this is dropped, so that a command cannot exhaust the memory. */
const MAX_OUTPUT_BYTES = 1_000_000;
/** Time to read the rest of the output after the exit; a background process may hold the pipes open longer. */
const DRAIN_MS = 300;

/**
 * Runs hook commands in the shell, or with arguments without a shell, each in its own process group, which is killed as
 * a whole on abort. A command is complete when its shell exits; its background processes keep running.
 */
export function spawnShell(surroundings: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): HookContext['spawn'] {
  // The `claude` CLI sets this variable for its hooks.
  const variables = { CLAUDE_PROJECT_DIR: surroundings.cwd };
  const substituted = (text: string) => text.replaceAll('${CLAUDE_PROJECT_DIR}', surroundings.cwd);
  return async (command, stdin, signal, args) => {
    const child = spawn(args ? substituted(command) : command, args?.map(substituted) ?? [], {
      shell: args === undefined,
      cwd: surroundings.cwd,
      env: { ...surroundings.env, ...variables },
      detached: process.platform !== 'win32',
      stdio: 'pipe',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(0, MAX_OUTPUT_BYTES);
      });
    }
    // A command may exit or close its input without reading it.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const kill = () => killGroup(child.pid);
    signal.addEventListener('abort', kill, { once: true });
    const release = child.pid === undefined ? undefined : killOnDeath(-child.pid);
    try {
      const code = await endOf(child);
      return { code, ...output } satisfies CommandEnd;
    } finally {
      signal.removeEventListener('abort', kill);
      release?.();
      detachOutput(child);
    }
  };
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  const ended = Promise.withResolvers<number | null>();
  const drained = new AbortController();
  child.once('error', ended.reject);
  child.once('exit', ended.resolve);
  child.once('close', () => drained.abort());
  const code = await ended.promise;
  await delay(DRAIN_MS, undefined, { signal: drained.signal }).catch(() => {});
  return code;
}

/** Discards further output of background processes: closing the pipes would kill them. */
function detachOutput(child: ChildProcessWithoutNullStreams): void {
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.removeAllListeners('data').resume();
    (pipe as unknown as Socket).unref();
  }
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) new ProcessGroup(pid).signal('SIGKILL');
}
