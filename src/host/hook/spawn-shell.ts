import { spawn } from 'node:child_process';
import type { CommandEnd } from './command-output.ts';
import type { HookWorld } from './run-hooks.ts';

/** Output beyond this is dropped: a hook's word is short, and a runaway command must not fill the memory. */
const LONGEST_OUTPUT = 1_000_000;

/** Runs hook commands in the shell, each in its own process group, which ends as a whole when it is cut off. */
export function spawnShell(surroundings: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): HookWorld['spawn'] {
  return (command, stdin, signal) =>
    new Promise<CommandEnd>((resolve, reject) => {
      const child = spawn(command, {
        shell: true,
        cwd: surroundings.cwd,
        env: { ...surroundings.env },
        detached: process.platform !== 'win32',
        stdio: 'pipe',
      });
      const said = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          said[name] = (said[name] + text).slice(0, LONGEST_OUTPUT);
        });
      }
      const kill = () => killGroup(child.pid);
      signal.addEventListener('abort', kill, { once: true });
      const settle = () => signal.removeEventListener('abort', kill);
      child.once('error', (error) => {
        settle();
        reject(error);
      });
      child.once('close', (code) => {
        settle();
        resolve({ code, ...said });
      });
      // A command that does not read its input closes the pipe: that is its own affair.
      child.stdin.on('error', () => {});
      child.stdin.end(stdin);
    });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
