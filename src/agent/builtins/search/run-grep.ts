import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { BuiltInContext } from '../built-in.ts';
import { isUsuallySkipped, type SearchRoot, walk } from './find-files.ts';
import { parseGlob } from './glob-pattern.ts';
import { type GrepJob, type GrepReport, grepEach } from './grep-files.ts';

export type GrepHit = Extract<GrepReport, { kind: 'hit' }>;

export type GrepEnd = {
  readonly hits: readonly GrepHit[];
  readonly tooLarge: number;
  /** Whether the time limit was reached before all files were searched. */
  readonly timedOut: boolean;
};

/**
 * Searches in a worker thread, which does not block other work and can be terminated at any time. If a bundler has left
 * the file of the worker out, the search runs in this thread and pauses after every file.
 */
export async function runGrep(
  job: GrepJob,
  limitMs: number,
  signal: AbortSignal,
  worker: URL | null = workerFile(),
): Promise<GrepEnd> {
  const timedOut = AbortSignal.timeout(limitMs);
  const cutOff = AbortSignal.any([signal, timedOut]);
  cutOff.throwIfAborted();
  const hits: GrepHit[] = [];
  const end = Promise.withResolvers<GrepEnd>();
  const cut = () =>
    signal.aborted ? end.reject(signal.reason) : end.resolve({ hits, tooLarge: 0, timedOut: true });
  cutOff.addEventListener('abort', cut, { once: true });
  const receive = (report: GrepReport) => {
    if (report.kind === 'hit') hits.push(report);
    else end.resolve({ hits, tooLarge: report.tooLarge, timedOut: false });
  };
  const stop = worker ? grepInWorker(worker, job, receive, end.reject) : grepHere(job, receive, end.reject);
  try {
    return await end.promise;
  } finally {
    cutOff.removeEventListener('abort', cut);
    await stop();
  }
}

type Receive = (report: GrepReport) => void;

function grepInWorker(
  file: URL,
  job: GrepJob,
  receive: Receive,
  fail: (reason: unknown) => void,
): () => Promise<unknown> {
  const worker = new Worker(file, { workerData: job, env: {}, execArgv: [] });
  worker.on('message', receive);
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('The search worker exited without a result')));
  return () => worker.terminate();
}

function grepHere(job: GrepJob, receive: Receive, fail: (reason: unknown) => void): () => Promise<unknown> {
  let isStopped = false;
  const search = async () => {
    for (const report of grepEach(job)) {
      if (isStopped) return;
      if (report) receive(report);
      await setImmediate();
    }
  };
  const over = search().catch(fail);
  return () => {
    isStopped = true;
    return over;
  };
}

/** The file of the worker; null if it is not beside this module, as in a bundle of the package in one file. */
function workerFile(): URL | null {
  try {
    const file = siblingModule(import.meta.url, 'grep-worker');
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

/** The URL of a module in the folder of `here`: TypeScript in the sources, JavaScript in the package. */
export function siblingModule(here: string, name: string): URL {
  return new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here);
}

export type GrepFiles =
  | { readonly kind: 'files'; readonly paths: readonly string[] }
  | { readonly kind: 'refused'; readonly fault: string };

/** The files to search: those below the root that match the glob and the type, without links. */
export async function grepFiles(
  root: Exclude<SearchRoot, { kind: 'refused' }>,
  wanted: { readonly glob?: string | undefined; readonly type?: string | undefined },
  context: Pick<BuiltInContext, 'isReadable'>,
  signal: AbortSignal,
): Promise<GrepFiles> {
  const accepts = filterOf(wanted);
  if (typeof accepts === 'string') return { kind: 'refused', fault: accepts };
  if (root.kind === 'file') {
    return { kind: 'files', paths: accepts([basename(root.path)]) ? [root.path] : [] };
  }
  const rules = {
    isReadable: (path: string) => context.isReadable(path),
    enters: (segments: readonly string[]) => !isUsuallySkipped(segments),
  };
  const paths: string[] = [];
  for await (const { path, segments, kind } of walk(root.path, rules, signal)) {
    if (kind === 'file' && accepts(segments)) paths.push(path);
  }
  return { kind: 'files', paths: paths.sort() };
}

type Filter = (segments: readonly string[]) => boolean;

function filterOf({
  glob,
  type,
}: {
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
}): Filter | string {
  if (type !== undefined && !Object.hasOwn(FILE_TYPES, type)) {
    return `Unknown type "${type}": use one of ${Object.keys(FILE_TYPES).join(', ')}, or set "glob" instead`;
  }
  const filters: Filter[] = [];
  for (const given of [glob, type === undefined ? undefined : FILE_TYPES[type]]) {
    if (given === undefined) continue;
    const isNegated = given.startsWith('!');
    const pattern = isNegated ? given.slice(1) : given;
    // As in ripgrep, a glob without a slash matches the file name only.
    const parsed = parseGlob(pattern.includes('/') ? pattern : `**/${pattern}`);
    if (typeof parsed === 'string') return `Invalid glob "${given}": ${parsed}`;
    filters.push((segments) => parsed.matches(segments) !== isNegated);
  }
  return (segments) => filters.every((accepts) => accepts(segments));
}

/** File types and their globs, under the names that ripgrep uses. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  c: '*.{c,h}',
  cpp: '*.{cc,cpp,cxx,hh,hpp,hxx,h}',
  cs: '*.cs',
  css: '*.{css,scss,sass,less}',
  go: '*.go',
  html: '*.{html,htm}',
  java: '*.java',
  js: '*.{js,jsx,mjs,cjs,vue}',
  json: '*.{json,jsonl}',
  kotlin: '*.{kt,kts}',
  md: '*.{md,mdx,markdown}',
  php: '*.php',
  py: '*.{py,pyi}',
  ruby: '*.rb',
  rust: '*.rs',
  sh: '*.{sh,bash,zsh}',
  sql: '*.sql',
  swift: '*.swift',
  toml: '*.toml',
  ts: '*.{ts,tsx,mts,cts}',
  txt: '*.txt',
  xml: '*.xml',
  yaml: '*.{yaml,yml}',
};
