import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { absolutePath, literalPrefixes, type PathLink, type Workspace } from '../../../permissions/path.ts';
import type { Rule } from '../../../permissions/rule.ts';
import { subjectKind } from '../../../permissions/subject.ts';
import { type BuiltIn, systemFault } from '../built-in.ts';

/** An input with an absolute path without symbolic links, or why the path cannot be resolved. */
type RealInput =
  | { readonly kind: 'resolved'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unresolved'; readonly fault: string };

/**
 * The input with its path resolved by the file system. Permission is decided for this input and the tool runs with it;
 * tools do not follow links themselves, so that the path that was decided on is the one that is opened.
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

/** The limit for symbolic links in one path, as in Linux. */
const MAX_LINKS = 40;

/**
 * Resolves links also in paths that do not exist yet: from the root to the first missing name, and through dangling
 * links.
 */
export async function realPath(path: string, linksLeft = MAX_LINKS): Promise<string> {
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
 * The symbolic links in the paths of deny and ask rules. Rules contain paths as users write them, while calls are decided
 * on real paths: if the home directory is a link, a rule for `~/.ssh` must also match the real directory. Resolved for
 * each call, because links change. Links below a wildcard of a rule are not resolved.
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
