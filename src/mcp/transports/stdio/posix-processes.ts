import { spawn } from 'node:child_process';
import { ProcessGroup } from '../../../base/process-group.ts';
import { armKillOnDeath, killOnDeath } from '../../../control/kill-on-death.ts';
import { type Processes, type ServerProcess, started } from './processes.ts';

/** Each server leads a process group, by which everything it started is reached. */
export const POSIX_PROCESSES: Processes = {
  async start({ command, args, env, cwd }) {
    // Who watches is there first: a host that is killed right after the start leaves nothing either.
    const disarm = armKillOnDeath();
    try {
      const child = spawn(command, args, { env, cwd, detached: true, stdio: 'pipe' });
      const release = child.pid === undefined ? () => {} : killOnDeath(-child.pid, 'gently');
      const piped = await started(child);
      return groupOf(piped, new ProcessGroup(piped.pid as number), release);
    } finally {
      disarm();
    }
  },
};

function groupOf(child: ServerProcess['child'], group: ProcessGroup, release: () => void): ServerProcess {
  let isReleased = false;
  return {
    child,
    signal(signal) {
      if (!isReleased) group.signal(signal);
    },
    isRunning: () => !isReleased && group.isRunning(),
    isGone: async (withinMs) => isReleased || group.isGone(withinMs),
    release() {
      isReleased = true;
      release();
    },
  };
}
