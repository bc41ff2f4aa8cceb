import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { compilePattern } from '../../../base/text/patterns.ts';
import { type Matches, matchLines } from './match-lines.ts';

/** What the thread is given. */
export type GrepJob = {
  readonly source: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly before: number;
  readonly after: number;
  /** Absolute and decided on; a link that took the place of one is not followed. */
  readonly files: readonly string[];
  /** Larger ones are counted, not read. */
  readonly largestFile: number;
  /** How many lines, or files with matches, are enough. */
  readonly enough: { readonly of: 'lines' | 'files'; readonly count: number };
};

/** What it reports: each file with matches, and the end. */
export type GrepReport =
  | ({ readonly kind: 'hit'; readonly path: string } & Matches)
  | { readonly kind: 'end'; readonly tooLarge: number };

if (parentPort) {
  const port = parentPort;
  grep(workerData as GrepJob, (report) => port.postMessage(report));
}

function grep(job: GrepJob, report: (it: GrepReport) => void): void {
  const pattern = compilePattern(job.source, job);
  if (typeof pattern === 'string') throw new Error(pattern);
  const { multiline, before, after } = job;
  const rules = { pattern, multiline, before, after };
  let tooLarge = 0;
  let got = 0;
  for (const path of job.files) {
    const text = readText(path, job.largestFile);
    if (text === 'too-large') tooLarge += 1;
    if (typeof text !== 'object') continue;
    const { count, lines } = matchLines(text.text, rules);
    if (count === 0) continue;
    const isAboutLines = job.enough.of === 'lines';
    report({ kind: 'hit', path, count, lines: isAboutLines ? lines.slice(0, job.enough.count - got) : [] });
    got += isAboutLines ? lines.length : 1;
    if (got >= job.enough.count) break;
  }
  report({ kind: 'end', tooLarge });
}

/** Files that are binary, gone or not ours to read are passed over. */
function readText(path: string, largest: number): { readonly text: string } | 'too-large' | 'passed-over' {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'passed-over';
    if (stat.size > largest) return 'too-large';
    const bytes = readFileSync(file);
    return bytes.subarray(0, 8192).includes(0) ? 'passed-over' : { text: bytes.toString('utf8') };
  } catch {
    return 'passed-over';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
