import { basename, join, resolve } from 'node:path';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { ConfigContext } from '../config-context.ts';
import type { EditOptions } from '../files/edit-document.ts';
import { FILE_VERSION } from '../files/read-document.ts';
import { isWithin, realPath } from '../files/read-text.ts';
import { findConfigPaths } from '../sources/config-paths.ts';

/**
 * How a file with servers or settings is written: shared files are readable by all users, the user's own files only by
 * the user; `.mcp.json` has no version, because other programs share the format; symbolic links must not lead out of the
 * project. Throws a `HostError` if a link leads from a project into the user's own directory.
 */
export function editOptionsFor(context: ConfigContext, path: string): EditOptions {
  const { home } = context;
  const own = { version: FILE_VERSION };
  const locks = locksPath(home);
  if (isUserFile(home, path)) return { ...own, locks, mode: 0o600, directoryMode: 0o700 };
  const { within } = findConfigPaths(context);
  if (leadsHome(path, home, within)) {
    const why = `a symbolic link in its path points into ${home}, which does not belong to the project; remove the link`;
    throw new HostError('bad-config', '', `${path} was not changed: ${why}`);
  }
  const place = { directoryMode: 0o755, locks, within };
  switch (basename(path)) {
    case '.mcp.json':
      return { ...place, mode: 0o644 };
    case 'settings.local.json':
      return { ...place, ...own, mode: 0o600 };
    default:
      return { ...place, ...own, mode: 0o644 };
  }
}

/** The directory for locks of files outside of Toolplane's own directory. */
export function locksPath(home: string): string {
  return join(home, 'locks');
}

/** Whether the path is that of the user's settings; a link in a project that leads there is not. */
export function isUserFile(home: string, path: string): boolean {
  return resolve(path) === join(resolve(home), 'settings.json');
}

/** Checked separately, because a repository may contain the home directory. */
function leadsHome(path: string, home: string, within: string): boolean {
  const own = realPath(home);
  return isWithin(realPath(path), own) && !isWithin(realPath(within), own);
}
