import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import type { ConfigContext } from '../config-context.ts';

/** The files that configuration may stand in; the lowest first, so of directories the farthest. */
export type ConfigPaths = {
  /** The repository, if there is one. */
  readonly root?: string;
  /** What no file of the project may lead out of. */
  readonly within: string;
  readonly user: string;
  /** `.mcp.json` of every directory. */
  readonly project: readonly string[];
  /** `.toolplane/settings.json` of every directory. */
  readonly shared: readonly string[];
  /** `.toolplane/settings.local.json` of every directory. */
  readonly local: readonly string[];
  readonly managedServers: readonly string[];
  readonly managedSettings: readonly string[];
};

/** Where to look, for a person who works in `cwd`. */
export function findConfigPaths(context: ConfigContext): ConfigPaths {
  const root = repositoryRoot(context.cwd, existsSync);
  return configPathsFor(context, { ...(root !== undefined && { root }), realHome: realPath(context.home) });
}

/** The nearest directory upwards that has a `.git`: a directory, or a file as work trees and submodules have it. */
export function repositoryRoot(cwd: string, exists: (path: string) => boolean): string | undefined {
  for (const directory of upwards(cwd)) if (exists(join(directory, '.git'))) return directory;
  return undefined;
}

/** Without a repository only the directory itself counts: what lies above it is anybody's. */
export function configPathsFor(
  context: Pick<ConfigContext, 'cwd' | 'home' | 'managed'>,
  known: { readonly root?: string; readonly realHome: string },
): ConfigPaths {
  const { cwd, home, managed } = context;
  const { root, realHome } = known;
  const all = upwards(cwd);
  const directories = (root === undefined ? [cwd] : all.slice(0, all.indexOf(root) + 1)).reverse();
  // In a person's own home, `.toolplane` is that of the person and not of a project.
  const own = [resolve(home), realHome];
  const folders = directories.map((it) => join(it, '.toolplane')).filter((it) => !own.includes(it));
  return {
    ...(root !== undefined && { root }),
    within: root ?? cwd,
    user: join(home, 'settings.json'),
    project: directories.map((it) => join(it, '.mcp.json')),
    shared: folders.map((it) => join(it, 'settings.json')),
    local: folders.map((it) => join(it, 'settings.local.json')),
    managedServers: managed.map((it) => join(it, 'managed-mcp.json')),
    managedSettings: managed.map((it) => join(it, 'managed-settings.json')),
  };
}

/** The directory and all above it, the nearest first. */
function upwards(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

/** A path of the person's or of the machine's, with `~` for their home. */
export function homeLabel(path: string, { userHome }: Pick<ConfigContext, 'userHome'>): string {
  const way = relative(userHome, path);
  return visibleText(way === '' || isOutside(way) ? path : `~${sep}${way}`);
}

/** A path of the project's, as it is seen from where people work. */
export function projectLabel(path: string, { cwd }: Pick<ConfigContext, 'cwd'>): string {
  const way = relative(cwd, path);
  return visibleText(isAbsolute(way) ? path : way);
}

/** A path of anybody's: as it is seen from where people work, if it is in there, else as `homeLabel` has it. */
export function pathLabel(path: string, context: Pick<ConfigContext, 'cwd' | 'userHome'>): string {
  const way = relative(context.cwd, path);
  return way === '' || isOutside(way) ? homeLabel(path, context) : visibleText(way);
}

/** A file that a flag names. What is no path may be anything, a secret too, and is not shown. */
export function flagLabel(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}

/** An address without the parts that credentials are put into. */
export function addressLabel(url: string): string {
  const { origin, pathname } = new URL(url);
  return redactText(`${origin}${pathname}`);
}

/** The way out of a directory, or to another drive. */
export function isOutside(way: string): boolean {
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
