// The worker thread of `run-grep.ts`: posts the reports of a search.
import { parentPort, workerData } from 'node:worker_threads';
import { type GrepJob, grepEach } from './grep-files.ts';

for (const report of grepEach(workerData as GrepJob)) if (report) parentPort?.postMessage(report);
