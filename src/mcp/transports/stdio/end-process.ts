import { startTimer } from '../../../base/timer.ts';
import type { EndSignal, ServerProcess } from './processes.ts';

/** What each step gets to have effect. */
const STEP_MS = 500;
/** What was made to end is gone as soon as the system gets to it. */
const LAST_MS = 1000;
const STEPS: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGKILL'];

/**
 * Ends a server and all it started: by the end of its input, then by asking twice, then by making it. Resolves when
 * nothing of it is left, at once if it heeds the first.
 */
export async function endProcess(process: ServerProcess): Promise<void> {
  process.child.stdin.end();
  for (const [step, signal] of STEPS.entries()) {
    await exitOf(process, STEP_MS);
    if (!process.isRunning()) break;
    // Those who outlive the leader had no part in its good end: they are not asked as gently.
    if (hasExited(process) && step === 0) continue;
    process.signal(signal);
    if (hasExited(process) && (await process.isGone(STEP_MS))) break;
  }
  await exitOf(process, LAST_MS);
  await process.isGone(LAST_MS);
  process.release();
}

function hasExited({ child }: ServerProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for the leader only, whose end is an event. */
async function exitOf(process: ServerProcess, withinMs: number): Promise<void> {
  if (hasExited(process)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = startTimer(withinMs, resolve);
  process.child.once('exit', resolve);
  await promise;
  clearTimeout(timer);
  process.child.off('exit', resolve);
}
