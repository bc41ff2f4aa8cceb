import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

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
