import { basename, join, resolve } from 'node:path';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { ConfigContext } from '../config-context.ts';
import type { EditOptions } from '../files/edit-document.ts';
import { FILE_VERSION } from '../files/read-document.ts';
import { isWithin, realPath } from '../files/real-path.ts';
import { findConfigPaths } from '../sources/config-paths.ts';

/**
 * How a file of servers or settings is written: what a team shares can be read by all, what is the person's own only by
 * them; `.mcp.json` is everybody's format and carries no version; and no link leads a write out of the project. Throws a
 * `HostError` if one leads from a project into the person's own.
 */
export function editOptionsFor(context: ConfigContext, path: string): EditOptions {
  const { home } = context;
  const own = { version: FILE_VERSION };
  const locks = locksPath(home);
  if (isUserFile(home, path)) return { ...own, locks, mode: 0o600, directoryMode: 0o700 };
  const { within } = findConfigPaths(context);
  if (leadsHome(path, home, within)) {
    const why = `a link leads from it into ${home}, which is your own and no project's; remove the link`;
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

/** Locks of files that are in no place of ours. */
export function locksPath(home: string): string {
  return join(home, 'locks');
}

/** Whether these are the person's own settings, by the way they are reached: a link of a project is not theirs. */
export function isUserFile(home: string, path: string): boolean {
  return resolve(path) === join(resolve(home), 'settings.json');
}

/** A repository may hold the home, so that no link has to lead out of it. */
function leadsHome(path: string, home: string, within: string): boolean {
  const own = realPath(home);
  return isWithin(realPath(path), own) && !isWithin(realPath(within), own);
}
