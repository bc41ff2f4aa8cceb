import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isInboxOpen } from '../../../channels/inbox-database.ts';
import { KINDS, kindOf, ownerOf } from './home-files.ts';

/** The files of one kind in Toolplane's home directory. */
export type HomePart = {
  readonly kind: string;
  /** Entries of the home directory, for display; a directory ends with a slash. */
  readonly places: readonly string[];
  readonly paths: readonly string[];
  /** Directories that are removed if they are empty afterwards, innermost first. */
  readonly directories: readonly string[];
  readonly bytes: number;
  /** Whether `--keep-settings` keeps the files. */
  readonly isKept: boolean;
};

export type HomeContent = {
  readonly parts: readonly HomePart[];
  /** The topmost paths that contain nothing written by Toolplane. */
  readonly others: readonly string[];
};

/**
 * Sorts the content of the home directory into what Toolplane wrote and what it did not. `TOOLPLANE_HOME` may be a
 * directory with other files in it, so a name alone is not enough: the content of a file decides. Links are not followed.
 */
export function homeContent(home: string): HomeContent {
  const entries = existsSync(home) ? scan(home, '') : [];
  const parts = KINDS.flatMap(({ kind, place, isKept = false }) => {
    const ours = entries.filter((entry) => entry.kind === kind);
    if (ours.length === 0) return [];
    const pathsOf = (isDirectory: boolean) =>
      ours.filter((it) => it.isDirectory === isDirectory).map(({ name }) => join(home, name));
    const paths = pathsOf(false);
    const top = ours
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name));
    return {
      kind,
      isKept,
      places: place === undefined ? top : [place],
      paths,
      directories: pathsOf(true),
      bytes: paths.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0),
    };
  });
  return {
    parts,
    others: entries.filter(({ kind }) => kind === undefined).map(({ name }) => join(home, name)),
  };
}

/**
 * Why the files of a kind cannot be removed now: a running process would continue without them, and lose messages or repeat
 * the work of another process.
 */
export async function useFault({ paths }: HomePart): Promise<string | undefined> {
  const inbox = paths.find((path) => basename(path) === 'inbox.db');
  if (inbox !== undefined && (await isInboxOpen(inbox))) return `${inbox} is in use; ${END}`;
  for (const path of paths.filter((it) => OWNED.test(it))) {
    const owner = existsSync(path) ? ownerOf(path) : undefined;
    if (owner?.isAlive) return `${path} is in use by process ${owner.pid}; ${END}`;
  }
  return undefined;
}

const END = 'end the processes of Toolplane and run the command again';
/** The lock of the daemon, and the files of running teammates. */
const OWNED = /[\\/](?:schedule[\\/]daemon\.lock|teams[\\/][^\\/]+[\\/]members[\\/][^\\/]+)$/;

/** An entry below the home directory; without `kind` it was not written by Toolplane. */
type HomeEntry = { readonly name: string; readonly isDirectory: boolean; readonly kind?: string };

/**
 * Lists the entries of a directory, innermost first. A known directory is Toolplane's if it is empty or contains a file of
 * Toolplane; its kind is that of its content if that is of one kind.
 */
function scan(home: string, directory: string): HomeEntry[] {
  const entries = readdirSync(join(home, directory), { withFileTypes: true });
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = directory === '' ? entry.name : `${directory}/${entry.name}`;
      const isDirectory = entry.isDirectory();
      try {
        const kind = kindOf(home, name, entry);
        const inside = isDirectory && kind !== undefined ? scan(home, name) : [];
        const kinds = new Set(inside.flatMap((it) => it.kind ?? []));
        const [first] = kinds;
        const isOurs = inside.length === 0 || first !== undefined;
        return kind !== undefined && isOurs
          ? [...inside, { name, isDirectory, kind: kinds.size === 1 && first !== undefined ? first : kind }]
          : [{ name, isDirectory }];
      } catch {
        // An entry that cannot be read does not count as written by Toolplane.
        return [{ name, isDirectory }];
      }
    });
}
