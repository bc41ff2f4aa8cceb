/** What paths are measured against; all absolute. Callers resolve links first: this is arithmetic on text. */
export type Workspace = {
  readonly cwd: string;
  readonly home: string;
  /** Directories added beside `cwd`. */
  readonly directories: readonly string[];
};

/** The absolute path without `.`, `..` and doubled slashes. */
export function absolutePath(path: string, workspace: Workspace): string {
  const home = path === '~' || path.startsWith('~/');
  const full = home
    ? workspace.home + path.slice(1)
    : path.startsWith('/')
      ? path
      : `${workspace.cwd}/${path}`;
  const parts: string[] = [];
  for (const part of full.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Whether the path is in `cwd` or in a directory added to it. */
export function isInWorkspace(path: string, workspace: Workspace): boolean {
  const full = absolutePath(path, workspace);
  return [workspace.cwd, ...workspace.directories].some((directory) => {
    const root = absolutePath(directory, workspace);
    return full === root || full.startsWith(root === '/' ? '/' : `${root}/`);
  });
}

/** Files that decide what runs later: editing them is never waved through by a mode. */
export function isProtected(path: string, workspace: Workspace): boolean {
  const parts = absolutePath(path, workspace).toLowerCase().split('/');
  return parts.some((part) => PROTECTED.has(part));
}

const PROTECTED = new Set(['.git', '.claude', '.toolplane', '.mcp.json', '.vscode', '.idea', '.husky']);

/**
 * Whether a pattern names the path or a directory above it. `./x` and `x/y` start at `cwd`, as does `/x`;
 * `//x` at the root, `~/x` at home; a pattern without a slash matches at any depth. `\*` and `\?` are no pattern.
 */
export function matchesPath(pattern: string, path: string, workspace: Workspace): boolean {
  const literal = { ...workspace, cwd: quoted(workspace.cwd), home: quoted(workspace.home) };
  return globRegExp(anchored(pattern, literal)).test(absolutePath(path, workspace));
}

/** The pattern that names this path and what is below it, wherever rules are read. */
export function patternOf(path: string, workspace: Workspace): string {
  const pattern = `/${quoted(absolutePath(path, workspace))}`;
  // Rules are trimmed, and a slash at the end says nothing: it keeps a blank that belongs to the name.
  return /\s$/.test(pattern) ? `${pattern}/` : pattern;
}

function quoted(path: string): string {
  return path.replace(/[\\*?]/g, '\\$&');
}

function anchored(pattern: string, workspace: Workspace): string {
  const trimmed = pattern.replace(/(?<=[^/])\/+$/, '');
  if (trimmed.startsWith('//')) return absolutePath(trimmed.slice(1), workspace);
  if (trimmed === '~' || trimmed.startsWith('~/')) return absolutePath(trimmed, workspace);
  if (trimmed.includes('/')) return absolutePath(`./${trimmed}`, workspace);
  if (trimmed === '.' || trimmed === '..') return absolutePath(trimmed, workspace);
  return absolutePath(`./**/${trimmed}`, workspace);
}

/** `**` spans directories, `*` and `?` stay in one; what is below a match matches too. */
function globRegExp(glob: string): RegExp {
  const source = glob.replace(GLOB_TOKEN, (token, at: number) => {
    if (token === '/**') return at + 3 === glob.length ? '/.+' : '(?:/[^/]+)*';
    if (token === '**' || token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    return `\\${token.at(-1)}`;
  });
  return new RegExp(`^${source === '/' ? '' : source}(?:/.*)?$`, 's');
}

const GLOB_TOKEN = /\\[\\*?]|\/\*\*(?=\/|$)|\*\*|[*?]|[\\^$.|+()[\]{}]/g;
