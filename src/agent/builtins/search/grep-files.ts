import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { compilePattern } from '../../../base/text/patterns.ts';
import { type Matches, matchLines } from './match-lines.ts';

/** What to search for, in which files. */
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

/** A file with matches, or the end. */
export type GrepReport =
  | ({ readonly kind: 'hit'; readonly path: string } & Matches)
  | { readonly kind: 'end'; readonly tooLarge: number };

/** Searches the files one after another; undefined after a file without matches, so that the caller can pause there. */
export function* grepEach(job: GrepJob): Generator<GrepReport | undefined> {
  const pattern = compilePattern(job.source, job);
  if (typeof pattern === 'string') throw new Error(pattern);
  const { multiline, before, after } = job;
  const rules = { pattern, multiline, before, after };
  let tooLarge = 0;
  let got = 0;
  for (const path of job.files) {
    const text = readText(path, job.largestFile);
    if (text === 'too-large') tooLarge += 1;
    const { count, lines } = typeof text === 'object' ? matchLines(text.text, rules) : NO_MATCHES;
    if (count === 0) {
      yield undefined;
      continue;
    }
    const isAboutLines = job.enough.of === 'lines';
    yield { kind: 'hit', path, count, lines: isAboutLines ? lines.slice(0, job.enough.count - got) : [] };
    got += isAboutLines ? lines.length : 1;
    if (got >= job.enough.count) break;
  }
  yield { kind: 'end', tooLarge };
}

const NO_MATCHES: Matches = { count: 0, lines: [] };

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
