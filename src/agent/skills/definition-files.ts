import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileState } from '../../base/files/replace-file.ts';
import type { LineProblem } from '../../base/text/frontmatter.ts';
import type { ConfigContext } from '../../config/config-context.ts';
import { readText } from '../../config/files/read-text.ts';
import { findConfigPaths, pathLabel } from '../../config/sources/config-paths.ts';

/** What a file defines. */
export type DefinitionKind = 'skill' | 'command' | 'agent' | 'style';

/** Where files come from. Those of a project come from other people and may allow or run something only after approval. */
export type DefinitionScope = 'plugin' | 'user' | 'project';

/** A directory such as `.claude`, with the folders `skills`, `commands`, `agents` and `output-styles`. */
export type DefinitionRoot = {
  readonly scope: DefinitionScope;
  readonly directory: string;
  /** The name of the plugin. */
  readonly plugin?: string;
  /** A directory that symbolic links must not lead out of. */
  readonly within?: string;
};

/** One file, as it is now. */
export type DefinitionFile = {
  readonly kind: DefinitionKind;
  readonly scope: DefinitionScope;
  readonly plugin?: string;
  readonly path: string;
  /** The path for people. */
  readonly label: string;
  /** The name that follows from the path: `deep:dive` for `commands/deep/dive.md`. */
  readonly name: string;
  readonly text: string;
};

/** A problem of a file, for people. */
export type DefinitionProblem = { readonly label: string } & Partial<Pick<LineProblem, 'line'>> &
  Pick<LineProblem, 'message'>;

/** A plugin, as settings, flags or the program name it. */
export type PluginDirectory = { readonly name: string; readonly directory: string };

/** Maximum size of a file in bytes; definitions are much smaller. */
const MAX_FILE_BYTES = 512 * 1024;
/** How many files of one folder are read. */
const MAX_FILES = 500;
/** How deep folders of commands and agents may be nested. */
const MAX_DEPTH = 5;

/** The directories that the settings sources select, lowest precedence first: plugins, the user's, the project's from its root downwards. */
export function definitionRoots(
  context: ConfigContext,
  { scopes, plugins }: { readonly scopes?: readonly string[]; readonly plugins: readonly PluginDirectory[] },
): DefinitionRoot[] {
  const isRead = (scope: string) => scopes === undefined || scopes.includes(scope);
  const { within, claude, shared } = findConfigPaths(context);
  const user = [context.claudeHome, context.home];
  const project = claude.shared.flatMap((path, at) => [dirname(path), dirname(shared[at] ?? path)]);
  return [
    ...plugins.map(({ name, directory }) => ({
      scope: 'plugin' as const,
      directory,
      plugin: name,
      within: directory,
    })),
    ...(isRead('user') ? user.map((directory) => ({ scope: 'user' as const, directory })) : []),
    ...(isRead('project')
      ? [...new Set(project)].map((directory) => ({ scope: 'project' as const, directory, within }))
      : []),
  ];
}

/** The content that an approval of a project file is for: the whole file. */
export function definitionContent(
  path: string,
  text: string,
): { readonly scope: 'project'; readonly path: string; readonly value: { readonly definition: string } } {
  return { scope: 'project', path, value: { definition: text } };
}

type KnownFiles = Map<string, { readonly state: string; readonly file: DefinitionFile | DefinitionProblem }>;

/** Reads the files of the roots; a file is read again only after it has changed. */
export class DefinitionFiles {
  readonly #roots: () => readonly DefinitionRoot[];
  readonly #labelOf: (path: string) => string;
  #known: KnownFiles = new Map();

  constructor(roots: () => readonly DefinitionRoot[], context: Pick<ConfigContext, 'cwd' | 'userHome'>) {
    this.#roots = roots;
    this.#labelOf = (path) => pathLabel(path, context);
  }

  /** All files, lowest precedence first. `hasChanged` is false if all are as before. */
  read(): {
    readonly files: readonly DefinitionFile[];
    readonly problems: readonly DefinitionProblem[];
    readonly hasChanged: boolean;
  } {
    const before = this.#known;
    const found: KnownFiles = new Map();
    this.#known = found;
    const problems: DefinitionProblem[] = [];
    for (const root of this.#roots()) {
      if (!isDirectory(root.directory)) continue;
      for (const [kind, folder] of FOLDERS) {
        const directory = join(root.directory, folder);
        const paths = kind === 'skill' ? skillPaths(directory) : markdownPaths(directory, DEPTHS[kind]);
        if (paths.length > MAX_FILES)
          problems.push({
            label: this.#labelOf(directory),
            message: `the folder has more than ${MAX_FILES} files; the others are ignored`,
          });
        for (const path of paths.slice(0, MAX_FILES)) this.#add(path, kind, root, directory, before);
      }
    }
    const all = [...found.values()];
    const hasChanged =
      before.size !== found.size || [...found].some(([path, { state }]) => before.get(path)?.state !== state);
    const files = all.flatMap(({ file }) => ('kind' in file ? [file] : []));
    return {
      files,
      problems: [...problems, ...all.flatMap(({ file }) => ('kind' in file ? [] : [file]))],
      hasChanged,
    };
  }

  #add(
    path: string,
    kind: DefinitionKind,
    root: DefinitionRoot,
    directory: string,
    before: KnownFiles,
  ): void {
    const state = stateOf(path);
    const known = before.get(path);
    if (state === 'absent') return;
    if (known?.state === state) return void this.#known.set(path, known);
    const { within, scope, plugin } = root;
    const read = readText(path, { maxBytes: MAX_FILE_BYTES, ...(within !== undefined && { within }) });
    if (read.state === 'absent') return;
    const label = this.#labelOf(path);
    const own = kind === 'skill' ? basename(dirname(path)) : commandName(path, directory);
    const name = plugin === undefined ? own : `${plugin}:${own}`;
    const file =
      read.state === 'unusable'
        ? { label, message: read.fault }
        : { kind, scope, ...(plugin !== undefined && { plugin }), path, label, name, text: read.text };
    this.#known.set(path, { state, file });
  }
}

const FOLDERS: readonly (readonly [DefinitionKind, string])[] = [
  ['command', 'commands'],
  ['skill', 'skills'],
  ['agent', 'agents'],
  ['style', 'output-styles'],
];

const DEPTHS = { command: MAX_DEPTH, agent: MAX_DEPTH, style: 0 } as const;

function stateOf(path: string): string {
  try {
    return fileState(path);
  } catch {
    return 'unknown';
  }
}

function commandName(path: string, directory: string): string {
  return path
    .slice(directory.length + 1)
    .replace(/\.md$/i, '')
    .replaceAll(/[\\/]/g, ':');
}

/** `SKILL.md` of every folder; a folder may be a symbolic link. */
function skillPaths(directory: string): string[] {
  const folders = entriesOf(directory).filter(
    (it) => it.isDirectory() || (it.isSymbolicLink() && isDirectory(join(directory, it.name))),
  );
  return folders.map(({ name }) => join(directory, name, 'SKILL.md'));
}

/** The Markdown files of a folder, and down to `depth` of the folders in it; folders that are links are not followed. */
function markdownPaths(directory: string, depth: number): string[] {
  const found: string[] = [];
  for (const entry of entriesOf(directory)) {
    if (found.length > MAX_FILES) break;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) found.push(...(depth > 0 ? markdownPaths(path, depth - 1) : []));
    else if (/\.md$/i.test(entry.name)) found.push(path);
  }
  return found;
}

/** Sorted by name; hidden entries are left out. */
function entriesOf(directory: string): Dirent[] {
  try {
    // Most folders are missing, and an error takes longer than a check.
    if (!isDirectory(directory)) return [];
    return readdirSync(directory, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** A problem on one line: `file:line: message`. */
export function formatProblem({ label, line, message }: DefinitionProblem): string {
  return `${line === undefined ? label : `${label}:${line}`}: ${message}`;
}
