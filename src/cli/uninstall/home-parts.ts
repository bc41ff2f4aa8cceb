import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS, type Shelf } from './own-files.ts';

/** What Toolplane keeps for a person, by kind. */
export type HomePart = {
  readonly kind: string;
  /** Where it is in the directory, for people; a directory ends with a stroke. */
  readonly places: readonly string[];
  /** Every file that goes. */
  readonly paths: readonly string[];
  /** What they are in, the innermost first: each goes if nothing else is in it. */
  readonly directories: readonly string[];
  readonly bytes: number;
  /** Whether a person put it there, and not Toolplane in passing. */
  readonly isConfigured: boolean;
};

export type HomeContent = {
  readonly parts: readonly HomePart[];
  /** What is not ours, as high up as can be, and how that is known. */
  readonly others: readonly { readonly path: string; readonly why: string }[];
};

/**
 * What is in the directory. `TOOLPLANE_HOME` may be one in which somebody keeps `projects` of their own, so names alone
 * make nothing ours: what is in a file does. Links are not followed, for whoever made them did that for a reason.
 */
export function homeContent(home: string): HomeContent {
  const entries = existsSync(home) ? entriesIn(home) : [];
  const claimed = KINDS.map(({ kind, isConfigured, shelf }) => {
    const claims = entries.flatMap((entry) => claimOf(home, entry, shelf) ?? []);
    return { kind, isConfigured, claims };
  });
  const known = new Set(claimed.flatMap(({ claims }) => claims.map(({ path }) => path)));
  const unclaimed = entries.filter(({ name }) => !known.has(join(home, name)));
  const inside = claimed.flatMap(({ claims }) => claims.flatMap(({ others }) => others));
  return {
    parts: claimed.filter(({ claims }) => claims.length > 0).map(partOf),
    others: [
      ...unclaimed.map(({ name }) => ({
        path: join(home, name),
        why: isName(name) ? NOT_WRITTEN : NOT_OURS,
      })),
      ...inside.map((path) => ({ path, why: NOT_OURS })),
    ],
  };
}

const NOT_OURS = 'it is none of ours';
const NOT_WRITTEN = 'it bears one of our names, but Toolplane did not write it';

function isName(name: string): boolean {
  return KINDS.some(({ shelf: { files = [], folders = [] } }) =>
    [...files, ...folders].some((it) => it.name.test(name)),
  );
}

/** What of one thing in a directory is ours. */
type Claim = {
  readonly path: string;
  readonly place: string;
  readonly paths: readonly string[];
  readonly directories: readonly string[];
  readonly others: readonly string[];
};

/** Undefined if nothing of it is; a directory of ours that is empty is ours. */
function claimOf(directory: string, entry: Dirent, { files = [], folders = [] }: Shelf): Claim | undefined {
  const { name } = entry;
  const path = join(directory, name);
  if (entry.isFile()) {
    const isOurs = files.some((it) => it.name.test(name) && it.holds(path));
    return isOurs ? { path, place: name, paths: [path], directories: [], others: [] } : undefined;
  }
  const folder = folders.find((it) => it.name.test(name) && (it.isOurs?.(path) ?? true));
  const entries = folder && entry.isDirectory() ? entriesWithin(path) : undefined;
  if (!folder || !entries) return undefined;
  const inside = entries.map((it) => ({ it, claim: claimOf(path, it, folder.shelf) }));
  const paths = inside.flatMap(({ claim }) => claim?.paths ?? []);
  const others = inside.flatMap(({ it, claim }) => claim?.others ?? [join(path, it.name)]);
  const below = inside.flatMap(({ claim }) => claim?.directories ?? []);
  if (paths.length === 0 && below.length === 0 && others.length > 0) return undefined;
  const directories = [...below, path];
  return { path, place: `${name}/`, paths, directories, others };
}

function partOf(found: {
  readonly kind: string;
  readonly isConfigured: boolean;
  readonly claims: readonly Claim[];
}): HomePart {
  const { kind, isConfigured, claims } = found;
  const paths = claims.flatMap((it) => it.paths);
  return {
    kind,
    places: claims.map(({ place }) => place),
    paths,
    directories: claims.flatMap((it) => it.directories),
    bytes: paths.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0),
    isConfigured,
  };
}

function entriesIn(directory: string): Dirent[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Undefined if it must not be looked into: then it is another's. */
function entriesWithin(directory: string): Dirent[] | undefined {
  try {
    return entriesIn(directory);
  } catch {
    return undefined;
  }
}
