import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import { startTimer } from '../../../base/async/timers.ts';
import { type EndSignal, type Processes, type ServerProcess, started } from './server-process.ts';

/** System functions that the Windows implementation needs. */
type WindowsSystem = {
  spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  isFile(path: string): boolean;
};

/** Windows has no signals: the process tree is asked to close, then killed. `SIGINT` has no equivalent. */
const TASKKILL: Record<EndSignal, readonly string[] | undefined> = {
  SIGINT: undefined,
  SIGTERM: ['/T'],
  SIGKILL: ['/T', '/F'],
};

/**
 * Servers are not detached on Windows, so that the system ends them with the host. A process whose parent has exited is
 * no longer in the tree, so descendants of a server that exited by itself are not reached.
 */
export function windowsProcesses(system: WindowsSystem = REAL): Processes {
  return {
    async start({ command, args, env, cwd }) {
      const run = windowsCommand(command, args, { env, cwd, isFile: system.isFile });
      const child = system.spawn(run.file, run.args, {
        env,
        cwd,
        stdio: 'pipe',
        windowsHide: true,
        windowsVerbatimArguments: run.isVerbatim,
      });
      return treeOf(await started(child), system);
    },
  };
}

function treeOf(child: ServerProcess['child'], system: WindowsSystem): ServerProcess {
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    child,
    signal(signal) {
      const how = TASKKILL[signal];
      if (!how || !isRunning()) return;
      const options: SpawnOptions = { stdio: 'ignore', windowsHide: true };
      const killer = system.spawn('taskkill', ['/PID', String(child.pid), ...how], options);
      killer.once('error', () => void child.kill(signal));
    },
    isRunning,
    async isGone(withinMs) {
      if (!isRunning()) return true;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = startTimer(withinMs, resolve);
      child.once('exit', resolve);
      await promise;
      clearTimeout(timer);
      child.off('exit', resolve);
      return !isRunning();
    },
    release() {},
  };
}

const REAL: WindowsSystem = {
  spawn: (file, args, options) => spawn(file, args, options),
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
};

/** The arguments for `spawn` on Windows. */
type WindowsCommand = {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are already quoted. */
  readonly isVerbatim: boolean;
};

type Surroundings = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  isFile(path: string): boolean;
};

/**
 * Batch files such as `npx` are found through PATHEXT and can only be run by `cmd.exe`, which has its own quoting rules.
 * Everything else is run directly.
 */
export function windowsCommand(
  command: string,
  args: readonly string[],
  around: Surroundings,
): WindowsCommand {
  const found = find(command, around);
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) {
    return { file: found ?? command, args, isVerbatim: false };
  }
  // Scripts that npm links pass their arguments to another command line, where they are parsed again.
  const readings = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i.test(found) ? 2 : 1;
  const quoted = args.map((arg) => escapeMeta(quote(arg), readings));
  const line = [escapeMeta(`"${win32.normalize(found)}"`, 1), ...quoted].join(' ');
  const shell = variable(around.env, 'COMSPEC') ?? 'cmd.exe';
  return { file: shell, args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true };
}

function find(command: string, { env, cwd, isFile }: Surroundings): string | undefined {
  const endings = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean);
  const hasEnding = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = hasEnding ? [command] : endings.map((ending) => command + ending.toLowerCase());
  const path = (variable(env, 'PATH') ?? '').split(';').filter(Boolean);
  // A file in the working directory must not be mistaken for a command of that name.
  const folders = /[\\/]/.test(command) ? [cwd] : path;
  for (const folder of folders) {
    const hit = names.map((name) => win32.resolve(folder, name)).find((file) => isFile(file));
    if (hit !== undefined) return hit;
  }
  return undefined;
}

/** Quotes as programs parse their command line: backslashes count only before a quote. */
function quote(arg: string): string {
  const inner = arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1');
  return `"${inner}"`;
}

/** Escapes a word once for each time that `cmd.exe` parses it. */
function escapeMeta(word: string, readings: number): string {
  let escaped = word;
  for (let reading = 0; reading < readings; reading++)
    escaped = escaped.replace(/[()%!^"<>&|;, *?[\]`]/g, '^$&');
  return escaped;
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
