import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import { startTimer } from '../../../base/async/timers.ts';
import { type EndSignal, type Processes, type ServerProcess, started } from './server-process.ts';

/** What the Windows way needs of the system. */
type WindowsSystem = {
  spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  isFile(path: string): boolean;
};

/** There are no signals: the tree of a process is asked to end, then made to. `SIGINT` has no like. */
const TASKKILL: Record<EndSignal, readonly string[] | undefined> = {
  SIGINT: undefined,
  SIGTERM: ['/T'],
  SIGKILL: ['/T', '/F'],
};

/**
 * Servers are not detached there: whoever is not is ended by the system with the host, whatever that died of. A process
 * whose parent has ended is in nobody's tree, so what a server leaves behind by ending itself is not reached.
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

/** What `spawn` is given on Windows. */
type WindowsCommand = {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly isVerbatim: boolean;
};

type Surroundings = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  isFile(path: string): boolean;
};

/**
 * `npx` and the like are batch files there, found by the endings in PATHEXT and run by `cmd.exe` only, which reads the
 * whole line by rules of its own. Everything else is run as it is.
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
  // What npm links hands its arguments to the next command line, where they are read once more.
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
  // A file that happens to lie in the working directory must not pass for a program of that name.
  const folders = /[\\/]/.test(command) ? [cwd] : path;
  for (const folder of folders) {
    const hit = names.map((name) => win32.resolve(folder, name)).find((file) => isFile(file));
    if (hit !== undefined) return hit;
  }
  return undefined;
}

/** As programs take their command line apart: backslashes count only before a quote. */
function quote(arg: string): string {
  const inner = arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1');
  return `"${inner}"`;
}

/** Once for each time `cmd.exe` reads it. */
function escapeMeta(word: string, readings: number): string {
  let escaped = word;
  for (let reading = 0; reading < readings; reading++)
    escaped = escaped.replace(/[()%!^"<>&|;, *?[\]`]/g, '^$&');
  return escaped;
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
