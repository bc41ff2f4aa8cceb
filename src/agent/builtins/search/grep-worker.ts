import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { compilePattern } from '../../../base/text/patterns.ts';
import { type Matches, matchLines } from './match-lines.ts';

/** The input of the worker. */
export type GrepJob = {
  readonly source: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly before: number;
  readonly after: number;
  /** Absolute paths; a link in the place of a file is not followed. */
  readonly files: readonly string[];
  /** Larger files are counted and not read. */
  readonly largestFile: number;
  /** The search ends after so many lines or files with matches. */
  readonly enough: { readonly of: 'lines' | 'files'; readonly count: number };
};

/** A message of the worker: a file with matches, or the end. */
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

/** Skips files that are binary, missing or not readable. */
function readText(path: string, largest: number): { readonly text: string } | 'too-large' | 'skipped' {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'skipped';
    if (stat.size > largest) return 'too-large';
    const bytes = readFileSync(file);
    return bytes.subarray(0, 8192).includes(0) ? 'skipped' : { text: bytes.toString('utf8') };
  } catch {
    return 'skipped';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
