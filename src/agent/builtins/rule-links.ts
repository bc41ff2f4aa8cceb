import { absolutePath, literalPrefixes, type PathLink, type Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import { subjectKind } from '../../permissions/subject.ts';
import { realPath } from './real-path.ts';

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
