import type { Source } from '../model.ts';

type Placed = { readonly path?: string };

/**
 * Whether managed settings come after the managed file that an entry is of: the system's directory is the first, then the
 * one that a variable names, and flags are the last.
 */
export function managedOrder(sources: readonly Source[]): (settings: Placed, entry: Placed) => boolean {
  const directories = sources.flatMap(({ scope, path }) =>
    scope === 'managed' && path !== undefined ? [directoryOf(path)] : [],
  );
  const rank = ({ path }: Placed) => {
    const found = path === undefined ? -1 : directories.indexOf(directoryOf(path));
    return found < 0 ? directories.length : found;
  };
  return (settings, entry) => rank(settings) > rank(entry);
}

function directoryOf(path: string): string {
  return path.replace(/[^\\/]*$/, '');
}
