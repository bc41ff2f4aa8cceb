import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { absolutePath, type Workspace } from '../../permissions/path.ts';
import type { BuiltIn } from './built-in.ts';
import { systemFault } from './system-fault.ts';

/** An input whose path is absolute and free of links, or why there is none. */
export type RealInput =
  | { readonly kind: 'resolved'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unresolved'; readonly fault: string };

/**
 * The input with its path as the file system sees it. Permission is decided on this one, and the tool is run with this
 * one: tools follow no links themselves, so what was decided on is what is opened.
 */
export async function realInput(
  tool: Pick<BuiltIn, 'pathMember'>,
  input: Readonly<Record<string, unknown>>,
  workspace: Workspace,
): Promise<RealInput> {
  const given = tool.pathMember === undefined ? undefined : input[tool.pathMember];
  if (tool.pathMember === undefined || typeof given !== 'string') return { kind: 'resolved', input };
  try {
    const path = await realPath(absolutePath(given, workspace));
    return { kind: 'resolved', input: { ...input, [tool.pathMember]: path } };
  } catch (thrown) {
    const fault = systemFault(thrown);
    if (fault === undefined) throw thrown;
    return { kind: 'unresolved', fault };
  }
}

/** More links than any system follows in one path. */
const MOST_LINKS = 40;

/**
 * Resolves links also for what does not exist yet: from the root down to the first name that is missing, and through
 * dangling links. Of a path with many missing names only the first is looked up.
 */
export async function realPath(path: string, linksLeft = MOST_LINKS): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || linksLeft === 0 || path === '/') throw thrown;
  }
  const names = path.split('/').filter((name) => name !== '');
  let here = '/';
  for (const [index, name] of names.entries()) {
    const next = join(here, name);
    const target = await linkTarget(next);
    if (target === 'missing') return join(here, names.slice(index).join('/'));
    if (target !== 'no-link') {
      const below = names.slice(index + 1).join('/');
      return realPath(join(resolve(here, target.to), below), linksLeft - 1);
    }
    here = next;
  }
  return here;
}

async function linkTarget(path: string): Promise<{ readonly to: string } | 'no-link' | 'missing'> {
  try {
    return (await lstat(path)).isSymbolicLink() ? { to: await readlink(path) } : 'no-link';
  } catch {
    return 'missing';
  }
}
