import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { absolutePath, type Workspace } from '../../../permissions/path.ts';
import type { BuiltInContext } from '../built-in.ts';
import { linkFault } from '../files/real-file.ts';
import type { GlobPattern } from './glob-pattern.ts';

/** The files below `root` that match a pattern, newest first; a link counts as its target. */
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

/** Files by modification time, newest first; other paths are omitted. */
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

/** The start of a search: the given path, or the working directory. */
export async function searchRoot(given: string | undefined, workspace: Workspace): Promise<SearchRoot> {
  if (given === undefined)
    return { kind: 'directory', path: await realpath(workspace.directory ?? workspace.cwd) };
  const path = absolutePath(given, workspace);
  const stat = await lstat(path);
  if ((await realpath(path)) !== path) return { kind: 'refused', fault: await linkFault(path) };
  if (stat.isDirectory()) return { kind: 'directory', path };
  return stat.isFile()
    ? { kind: 'file', path }
    : { kind: 'refused', fault: `${path} is not a file or directory` };
}

/** A path for results, relative to the working directory if it is below that. */
export function shownPath(path: string, { cwd }: Workspace): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

export type WalkEntry = {
  readonly path: string;
  /** The names in the path from the root of the walk. */
  readonly segments: readonly string[];
  readonly kind: 'file' | 'link';
};

export type WalkRules = {
  /** Whether to look into a directory, given as its segments from the root. */
  enters(segments: readonly string[]): boolean;
  /** Whether a file or directory may be read; others are skipped. */
  isReadable(path: string): boolean;
};

/**
 * All files and links below a directory. Links are not followed, so that there are no loops. Directories that cannot be
 * opened are skipped; a directory that is replaced by a link during the walk is followed.
 */
export async function* walk(root: string, rules: WalkRules, signal: AbortSignal): AsyncGenerator<WalkEntry> {
  const open: (readonly string[])[] = [[]];
  let turnBegan = performance.now();
  for (let directory = open.pop(); directory; directory = open.pop()) {
    signal.throwIfAborted();
    for (const entry of await entriesOf([root, ...directory].join('/'))) {
      // Yields to other work, because a directory may have many entries and there may be many rules.
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

/** How long the walk may block other work. */
const MAX_TURN_MS = 20;

/** Whether searches skip a directory by default: one with version control data or installed packages. */
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
