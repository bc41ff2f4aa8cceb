import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { absolutePath, type Workspace } from '../../../permissions/path.ts';
import type { BuiltInContext } from '../built-in.ts';
import { linkFault } from '../files/real-file.ts';
import type { GlobPattern } from './glob-pattern.ts';

/** The files below `root` a pattern matches, newest first; a link counts as the file it leads to. */
export async function findFiles(
  root: string,
  glob: GlobPattern,
  context: Pick<BuiltInContext, 'isReadable'>,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  const rules = {
    isReadable: (path: string) => context.isReadable(path),
    enters: (segments: readonly string[]) =>
      glob.reachesInto(segments) && (!isUsuallySkipped(segments) || glob.names(segments.at(-1) ?? '')),
  };
  for await (const { path, segments, kind } of walk(root, rules, signal)) {
    if (!glob.matches(segments)) continue;
    if (kind === 'file' || (await leadsToReadable(path, context))) found.push(path);
  }
  return newestFirst(found, signal);
}

async function leadsToReadable(link: string, context: Pick<BuiltInContext, 'isReadable'>): Promise<boolean> {
  return realpath(link).then(
    (path) => context.isReadable(path),
    () => false,
  );
}

/** Files by the time they were last changed; what is no file, or no more, is left out. */
export async function newestFirst(paths: readonly string[], signal: AbortSignal): Promise<string[]> {
  const dated: { readonly path: string; readonly time: number }[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const some = await Promise.all(paths.slice(from, from + AT_ONCE).map(dateOf));
    dated.push(...some.filter((it) => it !== undefined));
  }
  return dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

const AT_ONCE = 64;

async function dateOf(path: string) {
  try {
    const { mtimeMs, isFile } = await stat(path).then((it) => ({ mtimeMs: it.mtimeMs, isFile: it.isFile() }));
    return isFile ? { path, time: mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

export type SearchRoot =
  | { readonly kind: 'directory' | 'file'; readonly path: string }
  | { readonly kind: 'refused'; readonly fault: string };

/** Where a search begins: the path that was decided on, or the working directory. */
export async function searchRoot(given: string | undefined, workspace: Workspace): Promise<SearchRoot> {
  if (given === undefined) return { kind: 'directory', path: await realpath(workspace.cwd) };
  const path = absolutePath(given, workspace);
  const stat = await lstat(path);
  if ((await realpath(path)) !== path) return { kind: 'refused', fault: await linkFault(path) };
  if (stat.isDirectory()) return { kind: 'directory', path };
  return stat.isFile() ? { kind: 'file', path } : { kind: 'refused', fault: `${path} is no regular file` };
}

/** A path as results show it: from the working directory when it is below that. */
export function shownPath(path: string, { cwd }: Workspace): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

export type WalkEntry = {
  readonly path: string;
  /** From the root of the walk. */
  readonly segments: readonly string[];
  readonly kind: 'file' | 'link';
};

export type WalkRules = {
  /** Whether to look into a directory, given as its segments from the root. */
  enters(segments: readonly string[]): boolean;
  /** What is not readable is not there, with all that is below it. */
  isReadable(path: string): boolean;
};

/**
 * Everything below a directory but directories. Links are reported and never followed, so there are no circles. A
 * directory that cannot be opened is passed over, as `find` would do; one swapped for a link while this runs is followed.
 */
export async function* walk(root: string, rules: WalkRules, signal: AbortSignal): AsyncGenerator<WalkEntry> {
  const open: (readonly string[])[] = [[]];
  let turnBegan = performance.now();
  for (let directory = open.pop(); directory; directory = open.pop()) {
    signal.throwIfAborted();
    for (const entry of await entriesOf([root, ...directory].join('/'))) {
      // A directory may have many entries, and each is compared with many rules.
      if (performance.now() - turnBegan > MAX_TURN_MS) {
        await setImmediate();
        signal.throwIfAborted();
        turnBegan = performance.now();
      }
      const segments = [...directory, entry.name];
      const path = [root === '/' ? '' : root, ...segments].join('/');
      const kind = kindOf(entry);
      if (kind === undefined || !rules.isReadable(path)) continue;
      if (kind !== 'directory') yield { path, segments, kind };
      else if (rules.enters(segments)) open.push(segments);
    }
  }
}

/** How long other work, such as handling a signal, waits for the walk. */
const MAX_TURN_MS = 20;

/** Version control and installed packages drown what a search is for. */
export function isUsuallySkipped(segments: readonly string[]): boolean {
  const name = segments.at(-1);
  return name === '.git' || name === 'node_modules';
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function kindOf(entry: Dirent): WalkEntry['kind'] | 'directory' | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : undefined;
}
