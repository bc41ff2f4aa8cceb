import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { absolutePath, literalPrefixes, type PathLink, type Workspace } from '../../../permissions/path.ts';
import type { Rule } from '../../../permissions/rule.ts';
import { subjectKind } from '../../../permissions/subject.ts';
import { type BuiltIn, systemFault } from '../built-in.ts';

/** An input whose path is absolute and free of links, or why there is none. */
type RealInput =
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
const MAX_LINKS = 40;

/**
 * Resolves links also for what does not exist yet: from the root down to the first name that is missing, and through
 * dangling links. Of a path with many missing names only the first is looked up.
 */
async function realPath(path: string, linksLeft = MAX_LINKS): Promise<string> {
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

/**
 * Where the paths that rules name lead. A rule names a path as a person writes it, a call is decided on the real path:
 * with a home directory that is a link, `~/.ssh` is also the directory it leads to. Looked up for each call, since links
 * change. What a link below a wildcard of the rule leads to is not looked up.
 */
export async function ruleLinks(rules: readonly Rule[], workspace: Workspace): Promise<PathLink[]> {
  const home = absolutePath(workspace.home, workspace);
  const prefixes = rules.flatMap(({ tool, content, effect }) => {
    if (content === undefined || effect === 'allow' || subjectKind(tool) !== 'path') return [];
    return literalPrefixes(content, workspace);
  });
  const links = [...new Set([home, ...prefixes])].map(async (from): Promise<PathLink[]> => {
    const to = await realPath(from).catch(() => from);
    return to === from ? [] : [{ from, to, isHome: from === home }];
  });
  return (await Promise.all(links)).flat();
}
