import { lstat, realpath } from 'node:fs/promises';
import { absolutePath, type Workspace } from '../../permissions/path.ts';
import { linkFault } from './read-real.ts';

export type SearchRoot =
  | { readonly kind: 'directory' | 'file'; readonly path: string }
  | { readonly kind: 'refused'; readonly fault: string };

/** Where a search begins: the path that was decided on, or the working directory. */
export async function searchRoot(given: string | undefined, workspace: Workspace): Promise<SearchRoot> {
  if (given === undefined) return { kind: 'directory', path: await realpath(workspace.cwd) };
  const path = absolutePath(given, workspace);
  const stat = await lstat(path);
  if ((await realpath(path)) !== path) return { kind: 'refused', fault: await linkFault(path) };
  if (stat.isDirectory()) return { kind: 'directory', path };
  return stat.isFile() ? { kind: 'file', path } : { kind: 'refused', fault: `${path} is no regular file` };
}

/** A path as results show it: from the working directory when it is below that. */
export function shownPath(path: string, { cwd }: Workspace): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
