import { type Dirent, readdirSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { estimateTextTokens, truncate, visibleText } from '../../base/text/display-text.ts';
import { isWithin, readText, realPath } from '../../config/files/read-text.ts';
import { matchesPath } from '../../permissions/path.ts';
import { parseMemory } from './memory-text.ts';

/** Where memory files are looked for, and which of them may be read. All paths are absolute. */
export type MemoryOptions = {
  /** The working directory, with symbolic links resolved. */
  readonly cwd: string;
  readonly userHome: string;
  /** Toolplane's directory for the user. */
  readonly home: string;
  /** The directory of the `claude` CLI for the user. */
  readonly claudeHome: string;
  /** The repository that contains the working directory. */
  readonly root?: string;
  /** The sources to read; all by default. The auto-memory folder belongs to none of them. */
  readonly scopes?: readonly string[];
  /** Patterns for the paths of files that are left out. */
  readonly excludes?: readonly string[];
  /** The auto-memory folders, in order of precedence: the index of the first one that has an index is read. */
  readonly autoFolders?: readonly string[];
  /** Whether the user trusts the repository that contains this file as a whole. */
  isTrusted(path: string): boolean;
  /** Whether no deny rule forbids reading the file. */
  mayRead(path: string): boolean;
};

export type MemoryScope = 'user' | 'project' | 'local' | 'auto';

export type MemoryFile = {
  readonly path: string;
  readonly scope: MemoryScope;
  /** The text for the model. */
  readonly text: string;
  readonly tokens: number;
  /** The file that imports it. */
  readonly importedBy?: string;
  /** Patterns for paths: the file is a rule that is sent once the model reads a file that matches one. */
  readonly globs?: readonly string[];
  /** The directory that the patterns are relative to. */
  readonly base?: string;
};

/** A file that exists, or that another file imports, and that is not used. */
export type IgnoredMemory = Pick<MemoryFile, 'path' | 'scope' | 'importedBy'> & {
  readonly reason: string;
  /** Whether the user did not ask for it, so that it is reported at the start. */
  readonly isUnexpected: boolean;
};

/** The files at the start of a session in their order, the rules for paths, and the files that are not used. */
export type MemorySet = {
  readonly files: readonly MemoryFile[];
  readonly rules: readonly MemoryFile[];
  readonly ignored: readonly IgnoredMemory[];
};

const MAX_FILE_BYTES = 2 ** 18;
/** Maximum number of characters of all memory files together: about 50,000 tokens. */
export const MAX_TOTAL_LENGTH = 200_000;
const MAX_FILES = 200;
const MAX_IMPORT_DEPTH = 4;
const MAX_RULE_DEPTH = 4;
const MAX_RULE_FILES = 100;
/** Maximum number of files and folders that are searched for the rules of one folder. */
const MAX_RULE_ENTRIES = 2_000;
/** The part of the index of the auto-memory folder that is sent. */
const MAX_INDEX_LINES = 200;
const MAX_INDEX_LENGTH = 25_000;

/** Files that are not text; an import of one is ignored. */
const BINARY =
  /^\.(?:png|jpe?g|gif|webp|bmp|ico|svgz|pdf|zip|gz|tgz|bz2|xz|7z|tar|jar|exe|dll|so|dylib|o|a|wasm|class|pyc|mp[34]|wav|mov|ttf|otf|woff2?|sqlite|db|key|pem|p12|pfx)$/i;

/** Reads the memory files of one session. Each file is read once, so that a session sees it unchanged. */
export class MemoryReader {
  readonly #options: MemoryOptions;
  readonly #within: string;
  /** The real paths that were read. */
  readonly #seen = new Set<string>();
  readonly #ignored: IgnoredMemory[] = [];
  #length = 0;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#within = realPath(options.root ?? options.cwd);
  }

  /** The files that are sent at the start. */
  readStart(): MemorySet {
    const { claudeHome, home, cwd } = this.#options;
    const found = [
      ...(this.#reads('user') ? [claudeHome, home].flatMap((it) => this.#readUser(it)) : []),
      ...upwards(cwd)
        .toReversed()
        .flatMap((it) => [...this.#readProject(it), ...this.#readRules(it), ...this.#readLocal(it)]),
    ];
    const files = found.filter(({ globs }) => globs === undefined);
    const index = this.#readIndex();
    return {
      files: index ? [...files, index] : files,
      rules: found.filter(({ globs }) => globs !== undefined),
      ignored: this.#ignored,
    };
  }

  /** The files of one directory below the working directory, which are sent once the model reads a file in it. */
  readDirectory(directory: string): readonly MemoryFile[] {
    return [...this.#readProject(directory), ...this.#readLocal(directory), ...this.#readRules(directory)];
  }

  /** The files that were left out so far. */
  get ignored(): readonly IgnoredMemory[] {
    return this.#ignored;
  }

  #reads(scope: MemoryScope): boolean {
    const { scopes } = this.#options;
    return scopes === undefined || scopes.includes(scope);
  }

  #readUser(directory: string): MemoryFile[] {
    const place: Place = { scope: 'user', base: this.#options.cwd };
    return [...this.#readFirst(directory, MAIN_FILES, place), ...this.#readFolder(directory, place)];
  }

  #readProject(directory: string): MemoryFile[] {
    if (!this.#reads('project')) return [];
    const place = this.#placeOf(directory, 'project');
    const own = join(directory, '.claude', 'CLAUDE.md');
    const hasOwn = !this.#isUsers(directory) && existingFile(own);
    const main = this.#readFirst(directory, hasOwn ? MAIN_FILES.slice(0, 1) : MAIN_FILES, place);
    return hasOwn ? [...main, ...this.#read(own, place)] : main;
  }

  #readRules(directory: string): MemoryFile[] {
    if (!this.#reads('project') || this.#isUsers(directory)) return [];
    return this.#readFolder(join(directory, '.claude'), this.#placeOf(directory, 'project'));
  }

  #readLocal(directory: string): MemoryFile[] {
    if (!this.#reads('local')) return [];
    return this.#read(join(directory, 'CLAUDE.local.md'), this.#placeOf(directory, 'local'));
  }

  /** Whether `.claude` in this directory is the user's own folder. */
  #isUsers(directory: string): boolean {
    return resolve(directory, '.claude') === resolve(this.#options.claudeHome);
  }

  #placeOf(directory: string, scope: MemoryScope): Place {
    const isInside = isWithin(directory, this.#within);
    return { scope, base: directory, within: isInside ? this.#within : directory, isAbove: !isInside };
  }

  #readFirst(directory: string, names: readonly string[], place: Place): MemoryFile[] {
    const path = names.map((name) => join(directory, name)).find(existingFile);
    return path === undefined ? [] : this.#read(path, place);
  }

  /** The files of `rules` in the directory and its subfolders, sorted by path. */
  #readFolder(directory: string, place: Place): MemoryFile[] {
    const paths = markdownFiles(join(directory, 'rules'));
    if (paths.length > MAX_RULE_FILES)
      this.#ignore(
        join(directory, 'rules'),
        place.scope,
        `only the first ${MAX_RULE_FILES} files of this folder are read`,
      );
    return paths.slice(0, MAX_RULE_FILES).flatMap((path) => this.#read(path, place));
  }

  #readIndex(): MemoryFile | undefined {
    for (const folder of this.#options.autoFolders ?? []) {
      const path = join(folder, 'MEMORY.md');
      const text = this.#textOf(path, 'auto', {});
      if (text === undefined) continue;
      const lines = text.trim().split('\n').slice(0, MAX_INDEX_LINES).join('\n');
      const shown = truncate(lines, MAX_INDEX_LENGTH, '\n… [cut: keep the index short]');
      return shown === ''
        ? undefined
        : { path, scope: 'auto', text: shown, tokens: estimateTextTokens(shown) };
    }
    return undefined;
  }

  /** The file, followed by the files that it imports; none if it does not exist or is not used. */
  #read(path: string, place: Place, importer?: Importer): MemoryFile[] {
    const { scope } = place;
    const importedBy = importer && { importedBy: importer.path };
    const source = this.#textOf(path, scope, { ...place, ...importedBy });
    if (source === undefined) return [];
    const { text, imports, paths } = parseMemory(source);
    const globs = importer?.globs ?? paths;
    const limits = globs && { globs, base: place.base };
    const tokens = estimateTextTokens(text);
    const own: MemoryFile = { path, scope, text, tokens, ...importedBy, ...limits };
    const depth = (importer?.depth ?? 0) + 1;
    const next: Importer = { path, depth, ...(globs && { globs }) };
    const imported = imports.flatMap((it) => {
      if (depth <= MAX_IMPORT_DEPTH) return this.#import(it, place, next);
      const missed = importedPath(it, path, this.#options.userHome);
      if (existingFile(missed))
        this.#ignore(missed, scope, `its import is nested more than ${MAX_IMPORT_DEPTH} levels deep`, path);
      return [];
    });
    return text === '' ? imported : [own, ...imported];
  }

  #import(written: string, place: Place, importer: Importer): MemoryFile[] {
    const given = importedPath(written, importer.path, this.#options.userHome);
    // A full stop behind a path ends a sentence.
    const path = existingFile(given) ? given : given.replace(/[.,;:!?)\]}'"]+$/, '');
    if (!existingFile(path)) return [];
    if (!BINARY.test(extname(path))) return this.#read(path, place, importer);
    this.#ignore(path, place.scope, 'it is not a text file', importer.path);
    return [];
  }

  /** The text of a file that may be read and was not read before. */
  #textOf(
    path: string,
    scope: MemoryScope,
    { within, isAbove, importedBy }: Partial<Place> & { readonly importedBy?: string },
  ): string | undefined {
    const real = realPath(path);
    if (this.#seen.has(real) || !existingFile(path)) return undefined;
    const ignore = (reason: string, isUnexpected = true) => {
      this.#ignore(path, scope, reason, importedBy, isUnexpected);
      return undefined;
    };
    if (scope !== 'auto' && this.#isExcluded(path)) return ignore('"claudeMdExcludes" excludes it', false);
    const isOutside = within !== undefined && !isWithin(real, realPath(within));
    if (isOutside && !this.#options.isTrusted(importedBy ?? path))
      return ignore(
        `it is outside of ${visibleText(within)}; it is read once the repository is trusted: toolplane mcp approve --trust-repository`,
      );
    if (within !== undefined && relative(within, real).split(sep).includes('.git'))
      return ignore('it is in a .git directory');
    if (isAbove && isOfOtherUser(real)) return ignore('it belongs to another user');
    const isLinked = within !== undefined && real !== join(realPath(within), relative(within, path));
    if ((importedBy !== undefined || isLinked) && !this.#options.mayRead(real))
      return ignore('a deny rule forbids reading it');
    if (this.#seen.size >= MAX_FILES) return ignore(`there are more than ${MAX_FILES} memory files`);
    const read = readText(path, { maxBytes: MAX_FILE_BYTES });
    if (read.state === 'absent') return undefined;
    if (read.state === 'unusable') return ignore(read.fault);
    if (this.#length + read.text.length > MAX_TOTAL_LENGTH)
      return ignore(`the memory files have more than ${MAX_TOTAL_LENGTH} characters in total`);
    this.#seen.add(real);
    this.#length += read.text.length;
    return read.text;
  }

  #isExcluded(path: string): boolean {
    return (this.#options.excludes ?? []).some((pattern) => {
      const absolute = pattern.startsWith('~/')
        ? pattern
        : `/${pattern.startsWith('/') ? '' : '/'}${pattern}`;
      return matchesGlob(absolute, path, '/', this.#options.userHome);
    });
  }

  #ignore(path: string, scope: MemoryScope, reason: string, importedBy?: string, isUnexpected = true): void {
    if (this.#ignored.length >= MAX_FILES || this.#ignored.some((it) => it.path === path)) return;
    this.#ignored.push({
      path,
      scope,
      reason,
      isUnexpected,
      ...(importedBy !== undefined && { importedBy }),
    });
  }
}

/** Where a file was found: its source, and what it may lead to. */
type Place = {
  readonly scope: MemoryScope;
  /** The directory that the patterns of rules are relative to. */
  readonly base: string;
  /** The directory that links and imports must not lead out of; none for files of the user. */
  readonly within?: string;
  /** Whether the file is above the repository, where other users may have put it. */
  readonly isAbove?: boolean;
};

type Importer = { readonly path: string; readonly depth: number; readonly globs?: readonly string[] };

/** The first of these files that exists is read, because both often have the same content. */
const MAIN_FILES = ['CLAUDE.md', 'AGENTS.md'] as const;

/** The rules that apply to the file. */
export function rulesFor(rules: readonly MemoryFile[], path: string, home: string): readonly MemoryFile[] {
  return rules.filter(({ globs = [], base = '/' }) =>
    globs.some((glob) => isWithin(path, base) && matchesGlob(glob, path, base, home)),
  );
}

/** The directory and its parents, nearest first. */
export function upwards(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}

function matchesGlob(pattern: string, path: string, base: string, home: string): boolean {
  const posix = path.replaceAll(sep, '/');
  return alternatives(pattern).some((it) => matchesPath(it, posix, { cwd: base, home, directories: [] }));
}

const MAX_ALTERNATIVES = 64;

/** `a.{ts,tsx}` as `a.ts` and `a.tsx`. */
function alternatives(pattern: string): string[] {
  let all = [pattern];
  for (let isDone = false; !isDone; ) {
    const next = all.flatMap((it) => {
      const [braces, inner] = /\{([^{}]*)\}/.exec(it) ?? [];
      return braces === undefined || inner === undefined
        ? [it]
        : inner.split(',').map((one) => it.replace(braces, () => one));
    });
    isDone = next.length === all.length || next.length > MAX_ALTERNATIVES;
    all = next.slice(0, MAX_ALTERNATIVES);
  }
  return all;
}

function importedPath(written: string, importer: string, userHome: string): string {
  if (written.startsWith('~/')) return join(userHome, written.slice(2));
  return isAbsolute(written) ? resolve(written) : resolve(dirname(importer), written);
}

function existingFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function isOfOtherUser(path: string): boolean {
  const own = process.getuid?.();
  const { uid } = statSync(path);
  return own !== undefined && uid !== own && uid !== 0;
}

/** The Markdown files in the directory and its subfolders, sorted; links to directories are not followed. */
function markdownFiles(directory: string): string[] {
  const found: string[] = [];
  let visited = 0;
  const visit = (folder: string, depth: number) => {
    for (const entry of sortedEntries(folder)) {
      if (++visited > MAX_RULE_ENTRIES) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_RULE_DEPTH) visit(path, depth + 1);
      else if (entry.name.endsWith('.md')) found.push(path);
    }
  };
  visit(directory, 0);
  return found;
}

function sortedEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
