import { ANY, matchesSequence } from '../base/text/patterns.ts';

/** The directories that paths are compared with; all absolute. Symbolic links must be resolved before. */
export type Workspace = {
  /** The directory of the project, at which relative patterns of rules start. */
  readonly cwd: string;
  /** Where relative paths of calls and commands start, if that is not `cwd`. */
  readonly directory?: string;
  /** Further directories at which relative patterns of rules start, such as a worktree of the project. */
  readonly roots?: readonly string[];
  readonly home: string;
  /** Additional directories. */
  readonly directories: readonly string[];
  /** The symbolic links in paths of rules. */
  readonly links?: readonly PathLink[];
};

/** A path in a rule that leads through a symbolic link, and the real path it leads to; both absolute. */
export type PathLink = {
  readonly from: string;
  readonly to: string;
  /** Whether `from` is the home directory. Other links may be created by anyone who can write to the workspace. */
  readonly isHome: boolean;
};

/** The absolute path without `.`, `..` and doubled slashes. */
export function absolutePath(path: string, workspace: Workspace): string {
  const home = path === '~' || path.startsWith('~/');
  const full = home
    ? workspace.home + path.slice(1)
    : path.startsWith('/')
      ? path
      : `${workspace.directory ?? workspace.cwd}/${path}`;
  const parts: string[] = [];
  for (const part of full.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Whether the path is in `cwd` or in a directory added to it. Relative paths start at the current directory. */
export function isInWorkspace(path: string, workspace: Workspace): boolean {
  const full = absolutePath(path, workspace);
  return [workspace.cwd, ...workspace.directories].some((directory) => {
    const root = absolutePath(directory, workspace);
    return full === root || full.startsWith(root === '/' ? '/' : `${root}/`);
  });
}

/**
 * Whether a pattern names the path or a directory above it. `./x` and `x/y` start at `cwd`, as does `/x`;
 * `//x` at the root, `~/x` at home; a pattern without a slash matches at any depth. `\*` and `\?` are literal.
 */
export function matchesPath(pattern: string, path: string, workspace: Workspace): boolean {
  const names = segmentsOf(absolutePath(path, workspace));
  return formsOf(pattern, workspace).some((segments) => matchesSequence(segments, names, matchesSegment));
}

/**
 * Whether a pattern names a path that may contain wildcards, or a directory above it: `yes` for every path that the
 * wildcards can stand for, `maybe` for some of them. Wildcards stand for a leading dot only with `matchesDots`, as those of
 * a shell with the option `dotglob`.
 */
export function comparePath(
  pattern: string,
  path: PathPattern,
  workspace: Workspace,
  matchesDots = false,
): 'yes' | 'maybe' | 'no' {
  const forms = formsOf(pattern, workspace);
  const names = path.map((segment) => (segment === ANY ? undefined : sampleName(segment)));
  if (!names.includes(undefined)) {
    const known = names as string[];
    if (forms.some((segments) => matchesSequence(segments, known, matchesSegment))) return 'yes';
    if (path.every((segment) => typeof segment === 'string')) return 'no';
  }
  const itemsOverlap = (rule: Segment, name: Segment) => segmentsOverlap(rule, name, matchesDots);
  return forms.some((segments) => overlaps(segments, path, itemsOverlap)) ? 'maybe' : 'no';
}

/** Whether the pattern names a path below the directory; a pattern without a slash counts only in the workspace. */
export function isBelow(pattern: string, directory: PathPattern, workspace: Workspace): boolean {
  return literalPrefixes(pattern, workspace)
    .map(segmentsOf)
    .some((names) => names.length > directory.length && directory.every((it, at) => it === names[at]));
}

/** The name, with each wildcard replaced by a character that only wildcards of rules match. */
function sampleName(segment: Segment): string {
  if (typeof segment === 'string') return segment;
  return segment.map((element) => (typeof element === 'string' ? element : '\uffff')).join('');
}

function segmentsOverlap(rule: Segment, name: Segment, matchesDots: boolean): boolean {
  if (typeof name === 'string') return matchesSegment(rule, name);
  if (!matchesDots && typeof name[0] === 'symbol' && rule[0] === '.') return false;
  return overlaps<string | typeof ONE>(
    typeof rule === 'string' ? rule.split('') : rule,
    name,
    (one, other) => one === other || one === ONE || other === ONE,
  );
}

/** Whether two patterns whose `ANY` matches any number of items have a sequence in common. */
function overlaps<P>(
  left: readonly (P | typeof ANY)[],
  right: readonly (P | typeof ANY)[],
  itemsOverlap: (one: P, other: P) => boolean,
): boolean {
  // reachable[j]: the elements of `left` so far and the first j of `right` have a sequence in common.
  let reachable = [true];
  for (const [j, other] of right.entries()) reachable.push(reachable[j] === true && other === ANY);
  for (const element of left) {
    if (!reachable.includes(true)) return false;
    const next = [element === ANY && reachable[0] === true];
    for (const [j, other] of right.entries()) {
      const isReachable =
        element === ANY || other === ANY
          ? next[j] === true || reachable[j + 1] === true
          : reachable[j] === true && itemsOverlap(element, other);
      next.push(isReachable);
    }
    reachable = next;
  }
  return reachable[right.length] === true;
}

/** Cached, because searches compare each file with the same rules. */
const FORMS = new WeakMap<Workspace, Map<string, readonly PathPattern[]>>();

/** The pattern as written, and for the real paths behind symbolic links; descendants of a match match too. */
function formsOf(pattern: string, workspace: Workspace): readonly PathPattern[] {
  const known = FORMS.get(workspace) ?? new Map<string, readonly PathPattern[]>();
  FORMS.set(workspace, known);
  let forms = known.get(pattern);
  if (!forms) {
    const written = [workspace.cwd, ...(workspace.roots ?? [])].map((root) =>
      compilePattern(pattern, { ...workspace, cwd: root }),
    );
    const real = (workspace.links ?? []).flatMap((link) =>
      written.flatMap((segments) => rebased(segments, link) ?? []),
    );
    forms = [...written, ...real].map((segments) => [...segments, ANY]);
    known.set(pattern, forms);
  }
  return forms;
}

/** The paths before the first wildcard of a pattern, also with each `**` taken as no directory. */
export function literalPrefixes(pattern: string, workspace: Workspace): string[] {
  const written = [workspace.cwd, ...(workspace.roots ?? [])].map((root) =>
    compilePattern(pattern, { ...workspace, cwd: root }),
  );
  const forms = written.flatMap((segments) => [segments, segments.filter((segment) => segment !== ANY)]);
  const prefixes = forms.map((it) => {
    const end = it.findIndex((segment) => typeof segment !== 'string');
    return `/${it.slice(0, end === -1 ? it.length : end).join('/')}`;
  });
  return [...new Set(prefixes)];
}

/** The pattern for this path and its descendants, independent of the workspace. */
export function patternOf(path: string, workspace: Workspace): string {
  const pattern = `/${quoted(absolutePath(path, workspace))}`;
  // Rules are trimmed: a trailing slash, which has no meaning, keeps a trailing blank of the name.
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

/** `**` matches across directories, `*` and `?` within one. */
function compilePattern(pattern: string, workspace: Workspace): PathPattern {
  const { directory: _, ...rest } = workspace;
  const literal = { ...rest, cwd: quoted(workspace.cwd), home: quoted(workspace.home) };
  const segments: (Segment | typeof ANY)[] = segmentsOf(anchored(pattern, literal)).map(compileSegment);
  // `/x/**` matches descendants of `x`, but not `x` itself.
  if (segments.at(-1) === ANY) segments.push(ONE_STAR);
  return segments;
}

/** The pattern for real paths behind the link; undefined if the pattern does not lead through the link. */
function rebased(segments: PathPattern, { from, to }: PathLink): [PathPattern] | undefined {
  let at = 0;
  for (const name of segmentsOf(from)) {
    while (segments[at] === ANY) at += 1;
    if (segments[at] !== name) return undefined;
    at += 1;
  }
  return [[...segmentsOf(to), ...segments.slice(at)]];
}

/** One character, as an element of a `Segment`. */
export const ONE = Symbol('one');
const ONE_STAR = [ANY] as const;

/** A name without wildcards, or the characters of a pattern. */
export type Segment = string | readonly (string | typeof ONE | typeof ANY)[];
/** The names of an absolute path from the root on; `ANY` is any number of names. */
export type PathPattern = readonly (Segment | typeof ANY)[];

export function segmentsOf(absolute: string): string[] {
  return absolute === '/' ? [] : absolute.slice(1).split('/');
}

function compileSegment(segment: string): Segment | typeof ANY {
  if (segment === '**') return ANY;
  const tokens = segment.match(/\\[\\*?]|\*+|./gs) ?? [];
  const elements = tokens.map((token) => {
    if (token.startsWith('*')) return ANY;
    return token === '?' ? ONE : token.slice(-1);
  });
  return elements.every((element) => typeof element === 'string') ? elements.join('') : elements;
}

function matchesSegment(segment: Segment, name: string): boolean {
  if (typeof segment === 'string') return segment === name;
  return matchesSequence(segment, name, (element, character) => element === ONE || element === character);
}

/**
 * Whether a shell, an editor, git, a package manager, a CI service or an agent executes the file, or follows its
 * instructions, without a command to run this project. Mode `acceptEdits` does not cover such files. Sources and build
 * files (`package.json`, `Makefile`) are not protected: they run when the project is built.
 */
export function isProtectedPath(path: string, workspace: Workspace): boolean {
  const full = absolutePath(path, workspace);
  // A worktree is in `.claude/worktrees`, which does not protect its content.
  const root = workspace.roots?.find((it) => full.startsWith(`${it}/`)) ?? '';
  const parts = full.slice(root.length).split('/').map(asFileSystemsCompare);
  const name = parts.at(-1) ?? '';
  return (
    parts.some((part) => NAMES.has(part)) ||
    parts.some((part, index) => FOLDERS_IN.get(part)?.has(parts[index + 1] ?? '')) ||
    NAME_PATTERN.test(name)
  );
}

/** Some file systems ignore case, compatibility forms and invisible characters. */
function asFileSystemsCompare(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

const words = (text: string) => text.trim().split(/\s+/);

/** Names of files, and of directories including their content. */
const NAMES: ReadonlySet<string> = new Set([
  // agents
  ...words('.claude .claude.json .toolplane .mcp.json .cursor .codex .gemini .windsurf'),
  ...words('.aider.conf.yml .continue .kiro .opencode opencode.json .roo'),
  // version control and its hooks
  ...words('.git .gitconfig .gitmodules .gitattributes .hg .hgrc .svn .jj .husky .huskyrc .githooks'),
  ...words('.pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml'),
  ...words('lefthook.toml lefthook.json .lefthook.toml .lefthook.json'),
  ...words('.lefthook.yaml .lefthook .overcommit.yml .simple-git-hooks.json .simple-git-hooks.cjs'),
  // editors and debuggers
  ...words('.vscode .idea .zed .fleet .devcontainer .devcontainer.json .dir-locals.el .emacs .emacs.d .vim'),
  ...words('.vimrc .gvimrc .exrc .lvimrc .nvimrc .nvim.lua .gdbinit .gdbearlyinit .lldbinit .pdbrc'),
  // shells, terminals and sessions
  ...words('.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile'),
  ...words('.zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc config.fish profile.ps1'),
  ...words(
    'microsoft.powershell_profile.ps1 .envrc .direnv .direnvrc .tmux.conf .screenrc .xinitrc .xprofile',
  ),
  ...words('.xsession .xsessionrc .pam_environment .ssh .crontab'),
  // package managers, version managers and what they install
  ...words(
    '.npmrc .yarnrc .yarnrc.yml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js',
  ),
  ...words('bunfig.toml .cargo rust-toolchain rust-toolchain.toml .bundle .gemrc pip.conf pip.ini uv.toml'),
  ...words('.condarc .mvn nuget.config .tool-versions .mise mise.toml .mise.toml mise.local.toml'),
  ...words('.mise.local.toml .asdfrc node_modules .venv site-packages'),
  // interpreters and command line programs
  ...words('sitecustomize.py usercustomize.py .pythonrc .pythonrc.py .pythonstartup .irbrc .pryrc .rprofile'),
  ...words('.renviron .iex.exs .ghci .psqlrc .sqliterc .ripgreprc .curlrc .wgetrc'),
  // CI
  ...words('.gitlab-ci.yml .gitlab-ci.yaml .circleci .buildkite .travis.yml .drone.yml .woodpecker'),
  ...words('.woodpecker.yml .woodpecker.yaml .cirrus.yml .semaphore .teamcity .tekton .appveyor.yml'),
  ...words('appveyor.yml azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml jenkinsfile'),
]);

/** Names that are protected only in a directory with the given name. */
const FOLDERS_IN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['.github', new Set(['workflows', 'actions'])],
  ['.gitea', new Set(['workflows', 'actions'])],
  ['.forgejo', new Set(['workflows', 'actions'])],
  ['.gitlab', new Set(['ci'])],
  ['gradle', new Set(['wrapper'])],
  ['.gradle', new Set(['init.d', 'init.gradle', 'gradle.properties'])],
  [
    '.config',
    new Set(
      words(
        'autostart direnv environment.d fish git mise nushell nvim pip powershell systemd uv zsh mise.toml',
      ),
    ),
  ],
  ['.local', new Set(['bin'])],
  ['library', new Set(['launchagents', 'launchdaemons'])],
]);

const NAME_PATTERN = /(?:\.pth|\.code-workspace|\.sublime-project)$|^\.lintstagedrc/;
