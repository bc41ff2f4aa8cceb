import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { startTimer } from '../../../base/timer.ts';
import { type EndSignal, type Processes, type ServerProcess, started } from './processes.ts';
import { windowsCommand } from './windows-command.ts';

/** What the Windows way needs of the system. */
export type WindowsSystem = {
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
