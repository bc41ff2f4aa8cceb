import { basename } from 'node:path';
import type { BuiltInWorld } from './built-in.ts';
import { FILE_TYPES } from './file-types.ts';
import { parseGlob } from './glob-pattern.ts';
import type { SearchRoot } from './search-root.ts';
import { isUsuallySkipped, walk } from './walk.ts';

export type GrepFiles =
  | { readonly kind: 'files'; readonly paths: readonly string[] }
  | { readonly kind: 'refused'; readonly fault: string };

/** Which files are searched, by name: those below the root that a glob and a type let through. Links are not. */
export async function grepFiles(
  root: Exclude<SearchRoot, { kind: 'refused' }>,
  wanted: { readonly glob?: string | undefined; readonly type?: string | undefined },
  world: Pick<BuiltInWorld, 'isReadable'>,
  signal: AbortSignal,
): Promise<GrepFiles> {
  const accepts = filterOf(wanted);
  if (typeof accepts === 'string') return { kind: 'refused', fault: accepts };
  if (root.kind === 'file') {
    return { kind: 'files', paths: accepts([basename(root.path)]) ? [root.path] : [] };
  }
  const rules = {
    isReadable: (path: string) => world.isReadable(path),
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
    return `Unknown type "${type}": it is one of ${Object.keys(FILE_TYPES).join(', ')}; or use glob`;
  }
  const filters: Filter[] = [];
  for (const given of [glob, type === undefined ? undefined : FILE_TYPES[type]]) {
    if (given === undefined) continue;
    const isNegated = given.startsWith('!');
    const pattern = isNegated ? given.slice(1) : given;
    // As search programs do: a glob without a slash is about the name alone.
    const parsed = parseGlob(pattern.includes('/') ? pattern : `**/${pattern}`);
    if (typeof parsed === 'string') return `The glob "${given}" cannot be used: ${parsed}`;
    filters.push((segments) => parsed.matches(segments) !== isNegated);
  }
  return (segments) => filters.every((accepts) => accepts(segments));
}
