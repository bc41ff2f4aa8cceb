import { Worker } from 'node:worker_threads';
import type { GrepJob, GrepReport } from './grep-worker.ts';

export type GrepHit = Extract<GrepReport, { kind: 'hit' }>;

export type GrepEnd = {
  readonly hits: readonly GrepHit[];
  readonly tooLarge: number;
  /** Whether the time was up before all files were searched. */
  readonly timedOut: boolean;
};

/** Searches in a thread of its own: many or large files hold up nothing else, and ending the thread ends the search. */
export async function runGrep(job: GrepJob, limitMs: number, signal: AbortSignal): Promise<GrepEnd> {
  const timedOut = AbortSignal.timeout(limitMs);
  const cutOff = AbortSignal.any([signal, timedOut]);
  cutOff.throwIfAborted();
  const hits: GrepHit[] = [];
  const end = Promise.withResolvers<GrepEnd>();
  const worker = new Worker(beside(import.meta.url, 'grep-worker'), {
    workerData: job,
    env: {},
    execArgv: [],
  });
  worker.on('message', (report: GrepReport) => {
    if (report.kind === 'hit') hits.push(report);
    else end.resolve({ hits, tooLarge: report.tooLarge, timedOut: false });
  });
  worker.on('error', end.reject);
  worker.on('exit', () => end.reject(new Error('The search ended without an answer')));
  const cut = () =>
    signal.aborted ? end.reject(signal.reason) : end.resolve({ hits, tooLarge: 0, timedOut: true });
  cutOff.addEventListener('abort', cut, { once: true });
  try {
    return await end.promise;
  } finally {
    cutOff.removeEventListener('abort', cut);
    await worker.terminate();
  }
}

/** A module in the folder of `here`, with its ending: sources are run as they are, the package is compiled. */
export function beside(here: string, name: string): URL {
  return new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here);
}
