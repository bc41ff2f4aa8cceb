import { realpath } from 'node:fs/promises';
import type { BuiltInWorld } from './built-in.ts';
import type { GlobPattern } from './glob-pattern.ts';
import { newestFirst } from './newest-first.ts';
import { isUsuallySkipped, walk } from './walk.ts';

/** The files below `root` a pattern matches, newest first; a link counts as the file it leads to. */
export async function findFiles(
  root: string,
  glob: GlobPattern,
  world: Pick<BuiltInWorld, 'isReadable'>,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  const rules = {
    isReadable: (path: string) => world.isReadable(path),
    enters: (segments: readonly string[]) =>
      glob.reachesInto(segments) && (!isUsuallySkipped(segments) || glob.names(segments.at(-1) ?? '')),
  };
  for await (const { path, segments, kind } of walk(root, rules, signal)) {
    if (!glob.matches(segments)) continue;
    if (kind === 'file' || (await leadsToReadable(path, world))) found.push(path);
  }
  return newestFirst(found, signal);
}

async function leadsToReadable(link: string, world: Pick<BuiltInWorld, 'isReadable'>): Promise<boolean> {
  return realpath(link).then(
    (path) => world.isReadable(path),
    () => false,
  );
}
