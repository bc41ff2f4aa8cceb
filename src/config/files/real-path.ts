import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The canonical path of a file; of a missing file, the canonical path of the nearest existing directory and the rest. */
export function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync.native(full);
  } catch {
    const parent = dirname(full);
    return parent === full ? full : join(realPath(parent), basename(full));
  }
}

/** Whether the path is the directory or below it; both must be resolved. */
export function isWithin(path: string, directory: string): boolean {
  const steps = relative(directory, path);
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps));
}
