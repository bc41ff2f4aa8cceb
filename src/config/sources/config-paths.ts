import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import type { ConfigContext } from '../config-context.ts';
import { isWithin, realPath } from '../files/read-text.ts';

/** The paths of configuration files, lowest precedence first: of directories, the farthest first. */
export type ConfigPaths = {
  /** The repository, if the working directory is in one. */
  readonly root?: string;
  /** The directory that symbolic links of project files must not lead out of. */
  readonly within: string;
  readonly user: string;
  /** `.mcp.json` of every directory. */
  readonly project: readonly string[];
  /** `.toolplane/settings.json` of every directory. */
  readonly shared: readonly string[];
  /** `.toolplane/settings.local.json` of every directory. */
  readonly local: readonly string[];
  /** The settings files of the `claude` CLI: of the administrator, of the user, and of every directory. */
  readonly claude: {
    readonly managed: string;
    readonly user: string;
    readonly shared: readonly string[];
    readonly local: readonly string[];
  };
  readonly managedServers: readonly string[];
  readonly managedSettings: readonly string[];
};

/** The paths for the working directory. */
export function findConfigPaths(context: ConfigContext): ConfigPaths {
  const root = repositoryRoot(context.cwd, existsSync);
  const realHomes = [context.home, context.claudeHome].map(realPath);
  return configPathsFor(context, { ...(root !== undefined && { root }), realHomes });
}

/** The nearest directory, upwards, with a `.git` directory or, for work trees and submodules, a `.git` file. */
export function repositoryRoot(cwd: string, exists: (path: string) => boolean): string | undefined {
  for (const directory of upwards(cwd)) if (exists(join(directory, '.git'))) return directory;
  return undefined;
}

/** Without a repository only the working directory is searched: directories above it may belong to other users. */
export function configPathsFor(
  context: Pick<ConfigContext, 'cwd' | 'home' | 'claudeHome' | 'managed' | 'claudeManaged'>,
  known: { readonly root?: string; readonly realHomes: readonly string[] },
): ConfigPaths {
  const { cwd, home, claudeHome, managed, claudeManaged } = context;
  const { root, realHomes } = known;
  const all = upwards(cwd);
  const directories = (root === undefined ? [cwd] : all.slice(0, all.indexOf(root) + 1)).reverse();
  // In the user's home, `.toolplane` and `.claude` are the user's directories and not a project's.
  const own = [resolve(home), resolve(claudeHome), ...realHomes];
  const inEach = (name: string, file: string) =>
    directories
      .map((it) => join(it, name))
      .filter((it) => !own.includes(it))
      .map((it) => join(it, file));
  return {
    ...(root !== undefined && { root }),
    within: root ?? cwd,
    user: join(home, 'settings.json'),
    project: directories.map((it) => join(it, '.mcp.json')),
    shared: inEach('.toolplane', 'settings.json'),
    local: inEach('.toolplane', 'settings.local.json'),
    claude: {
      managed: join(claudeManaged, 'managed-settings.json'),
      user: join(claudeHome, 'settings.json'),
      shared: inEach('.claude', 'settings.json'),
      local: inEach('.claude', 'settings.local.json'),
    },
    managedServers: managed.map((it) => join(it, 'managed-mcp.json')),
    managedSettings: managed.map((it) => join(it, 'managed-settings.json')),
  };
}

/** The directory and its parents, nearest first. */
function upwards(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}

/** The path of a user or managed file, with `~` for the user's home. */
export function homeLabel(path: string, { userHome }: Pick<ConfigContext, 'userHome'>): string {
  return visibleText(isBelow(path, userHome) ? `~${sep}${relative(userHome, path)}` : path);
}

/** The path of a project file, relative to the working directory. */
export function projectLabel(path: string, { cwd }: Pick<ConfigContext, 'cwd'>): string {
  const label = relative(cwd, path);
  return visibleText(isAbsolute(label) ? path : label);
}

/** Any path: relative if it is below the working directory, otherwise as `homeLabel` shows it. */
export function pathLabel(path: string, context: Pick<ConfigContext, 'cwd' | 'userHome'>): string {
  return isBelow(path, context.cwd) ? visibleText(relative(context.cwd, path)) : homeLabel(path, context);
}

function isBelow(path: string, directory: string): boolean {
  return path !== directory && isWithin(path, directory);
}

/** A file that a flag names. A value that does not look like a path may be a secret and is not shown. */
export function flagLabel(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}

/** A URL without the parts that may contain credentials. */
export function addressLabel(url: string): string {
  const { origin, pathname } = new URL(url);
  return redactText(`${origin}${pathname}`);
}
