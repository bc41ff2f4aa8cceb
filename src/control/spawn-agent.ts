import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { LineSplitter } from '../base/lines.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { killOnExit } from './kill-on-exit.ts';
import { ProcessLink, type ProcessLinkOptions } from './process-link.ts';
import type { SpawnedProcess, SpawnRequest } from './spawned-process.ts';

export type SpawnAgentOptions = Pick<ProcessLinkOptions, 'maxLineLength' | 'onNoise'> & {
  graceMs?: number;
  /** What the agent writes on stderr, as it comes. It must not throw. */
  onStderr?: ((text: string) => void) | undefined;
  spawn?: ((request: SpawnRequest) => SpawnedProcess) | undefined;
};

/** Starts an agent CLI and links to it. It ends with this process: by its stdin when we are killed, by a signal when we exit. */
export function spawnAgent(request: Omit<SpawnRequest, 'signal'>, options: SpawnAgentOptions): ProcessLink {
  const forced = new AbortController();
  const stderrEnded = Promise.withResolvers<void>();
  const start = () =>
    options.spawn
      ? options.spawn({ ...request, signal: forced.signal })
      : spawnLocal(request, {
          onLine: (line) => link.noteStderr(line),
          onText: options.onStderr,
          onEnd: stderrEnded.resolve,
        });
  const child = launch(start);
  if (options.spawn) stderrEnded.resolve();
  const link = new ProcessLink(child, {
    maxLineLength: options.maxLineLength,
    graceMs: options.graceMs ?? 5_000,
    stderrEnded: stderrEnded.promise,
    onForce: () => forced.abort(),
    ...(options.onNoise && { onNoise: options.onNoise }),
  });
  void link.gone.then(killOnExit(() => child.kill('SIGTERM')));
  return link;
}

/** Some faults are thrown (arguments that are too long), others come as an event (a missing file). */
function launch(start: () => SpawnedProcess): SpawnedProcess {
  try {
    return start();
  } catch (cause) {
    if (cause instanceof SdkError) throw cause;
    throw new SdkError('spawn-failed', `The agent could not be started: ${messageOf(cause)}`, { cause });
  }
}

function spawnLocal(
  request: Omit<SpawnRequest, 'signal'>,
  stderr: { onLine(line: string): void; onText?: ((text: string) => void) | undefined; onEnd(): void },
): SpawnedProcess {
  if (request.cwd !== undefined && !existsSync(request.cwd)) {
    throw new SdkError('spawn-failed', `The agent cannot be started: cwd ${request.cwd} does not exist`);
  }
  const child = spawn(request.command, request.args, {
    cwd: request.cwd,
    env: request.env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const splitter = new LineSplitter({ maxLength: 64 * 1024, onLine: stderr.onLine, onTooLong: () => {} });
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    splitter.write(text);
    stderr.onText?.(text);
  });
  child.stderr.on('close', () => {
    splitter.end();
    stderr.onEnd();
  });
  return child;
}
