import { join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { realPath } from '../../config/files/read-text.ts';
import { matchesCall } from '../../permissions/match.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { MemoryOptions } from '../memory/memory-files.ts';
import { projectFolder } from '../transcript/session-files.ts';
import { isSwitchedOn, type LaunchEnvironment } from './environment-variables.ts';

/** Where a session with this configuration finds memory files. `rules` also has the rules of flags. */
export function memoryOptions(
  { context, settings, flags, approvals, root }: Configuration,
  { cwd, home: userHome, env }: Pick<LaunchEnvironment, 'cwd' | 'home' | 'env'>,
  rules: readonly Rule[] = settings.rules,
): MemoryOptions {
  const { home, claudeHome } = context;
  const isOff = settings.autoMemory === false || isSwitchedOn(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY);
  const denied = rules.filter(({ effect }) => effect === 'deny');
  const workspace = { cwd, home: userHome, directories: [] };
  return {
    cwd,
    userHome,
    home,
    claudeHome,
    ...(root !== undefined && { root }),
    ...(flags.scopes && { scopes: flags.scopes }),
    ...(settings.memoryExcludes && { excludes: settings.memoryExcludes }),
    autoFolders: isOff
      ? []
      : [projectFolder(home, cwd), claudeFolder(claudeHome, cwd)].map((it) => join(realPath(it), 'memory')),
    isTrusted: (path) => approvals.isTrusted(path),
    mayRead: (path) =>
      !denied.some((rule) => matchesCall(rule, { name: 'Read', input: { file_path: path } }, workspace)),
  };
}

/** The folder of a project in the `claude` CLI, whose notes are read if Toolplane has none. */
function claudeFolder(claudeHome: string, cwd: string): string {
  return join(claudeHome, 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
}
