import { ANY } from '../../base/text/patterns.ts';
import { comparePath, isBelow, type PathPattern, segmentsOf, type Workspace } from '../path.ts';
import {
  FILE_PROGRAMS,
  fileArguments,
  gitCommand,
  givenTargets,
  IGNORED,
  INTERPRETER,
  isRecursive,
  namesDownloads,
  READING_GIT,
  replacesFiles,
  SEARCHERS,
  TARGET_VALUE,
  usesTrees,
  writtenByOther,
  writtenTrees,
} from './file-programs.ts';
import { type CommandMatch, commandDoubt } from './restricted-command.ts';
import {
  type FileRedirect,
  type Interpreter,
  interpretScript,
  type Outcome,
  type ShellCommand,
  type ShellWord,
} from './shell-command.ts';
import {
  type Expansions,
  GAP,
  isUnknown,
  joined,
  keyOf,
  lastName,
  lastOrAnyName,
  limitedTexts,
  pathOf,
  pathsIn,
  type ShellText,
  scriptOf,
  textsOf,
  unpackedName,
  type Variables,
  withoutPrefix,
} from './shell-text.ts';
import {
  commandStarts,
  INSERTERS,
  nameOf,
  RUN_BY_SHELL,
  RUNNERS,
  ranBySubcommand,
  replacedText,
  SCRIPT_READERS,
  WRAPPERS,
  wrappedCommand,
} from './wrapped-command.ts';

/**
 * Whether a shell command reads or writes a file that a path pattern matches: by a redirection, as an argument of a
 * common program such as `cat` or `cp`, or by entering its directory. `cd`, variables that the command sets, braces and
 * wildcards are followed. The match is possible, but not certain, if the path depends on what only the shell knows, or if
 * another program gets the path as an argument.
 */
export function matchFiles(
  pattern: string,
  access: Access,
  command: string,
  workspace: Workspace,
): CommandMatch {
  const { uses, doubt, matchesDots } = usesOf(command, workspace);
  const relevant = uses[access];
  let possible = relevant.length > MAX_USES ? TOO_MANY : doubt;
  for (const { path, isCertain, isTree } of relevant.slice(0, MAX_USES)) {
    if (isTree) {
      if (isBelow(pattern, path, workspace)) possible ??= WHOLE_TREE;
      continue;
    }
    const match = comparePath(pattern, path, workspace, matchesDots);
    if (match === 'yes' && isCertain) return { kind: 'yes' };
    if (match !== 'no') possible ??= isCertain ? COMPUTED : OTHER_PROGRAM;
  }
  return possible === undefined ? { kind: 'no' } : { kind: 'maybe', reason: possible };
}

type Access = 'read' | 'write';

/** Maximum number of files of a command that are compared with each rule; a repository may have many rules. */
const MAX_USES = 100;
const TOO_MANY = `the command names more than ${MAX_USES} files`;
const COMPUTED = 'a path is only known when the shell runs the command';
const WHOLE_TREE = 'the command reads or writes a whole directory';
const OTHER_PROGRAM = 'a program gets the path as an argument, and may use the file';

type FileUse = {
  readonly path: PathPattern;
  /** Whether the program is known to use the file. */
  readonly isCertain: boolean;
  /** Whether the path is a directory of which the program uses everything. */
  readonly isTree?: true;
};

type FileUses = {
  readonly uses: Readonly<Record<Access, readonly FileUse[]>>;
  readonly doubt?: string;
  readonly matchesDots: boolean;
};

let last: { readonly command: string; readonly workspace: Workspace; readonly found: FileUses } | undefined;

/** Cached, because all rules are compared with one command in turn. */
function usesOf(command: string, workspace: Workspace): FileUses {
  if (last?.command !== command || last.workspace !== workspace) {
    last = { command, workspace, found: new FileFinder(command, workspace).run() };
  }
  return last.found;
}

/** A directory in which the shell may be, the one before it (`cd -`), and those below it on the stack of `pushd`. */
type Place = {
  readonly directory: PathPattern;
  readonly previous: PathPattern;
  readonly stack: readonly PathPattern[];
};

/** What is known while the shell runs: where it may be, and the values that the command gave to variables. */
type State = {
  readonly places: ReadonlyMap<string, Place>;
  readonly variables: Variables;
};

const ANYWHERE: PathPattern = [ANY];
const LOST: Place = { directory: ANYWHERE, previous: ANYWHERE, stack: [] };
const UNKNOWN: readonly ShellText[] = [[GAP]];
const MAX_PLACES = 32;
/** Maximum number of names in a path and of entries on the `pushd` stack; beyond it, the directory is unknown. */
const MAX_LENGTH = 40;

class FileFinder implements Interpreter<State> {
  readonly #command: string;
  readonly #workspace: Workspace;
  readonly #uses = { read: new Map<string, FileUse>(), write: new Map<string, FileUse>() };
  readonly #expansions: Expansions;

  constructor(command: string, workspace: Workspace) {
    this.#command = command;
    this.#workspace = workspace;
    // `${x:=y}` sets a variable inside a word.
    const set = [...command.matchAll(/\$\{(\w+):?=/g)].map(([, name]) => name ?? '');
    const hasReferences = /\b(?:declare|typeset|local)\s+-\w*n/.test(command);
    const changesSplitting = /(?<![$\w{])IFS\b/.test(command.replace(/["'\\]/g, ''));
    this.#expansions = { home: workspace.home, hasReferences, unknown: new Set(set), changesSplitting };
  }

  run(): FileUses {
    const directory = segmentsOf(this.#workspace.directory ?? this.#workspace.cwd);
    const places = placesOf([{ directory, previous: ANYWHERE, stack: [] }]);
    const error = interpretScript(this.#command, { places, variables: new Map() }, this);
    const uses = { read: [...this.#uses.read.values()], write: [...this.#uses.write.values()] };
    const doubt = commandDoubt(this.#command) ?? (error && `the command cannot be parsed (${error})`);
    const matchesDots = DOT_OPTIONS.test(this.#command.replace(/["'\\]/g, ''));
    return { uses, matchesDots, ...(doubt !== undefined && { doubt }) };
  }

  command({ words: all, input }: ShellCommand, state: State, run: Run): Outcome<State> {
    // The shell drops a word that consists of blanks, such as an unquoted $IFS.
    const words = all.slice(
      all.findIndex((word) => word.value.trim() !== '' || word.pieces.includes(undefined)),
    );
    if (typeof input === 'object' && SCRIPT_READERS.has(nameOf(words))) run(scriptOf(input.pieces), state);
    this.#storedCommand(words, state, run);
    return this.#run(words, state, run, 0);
  }

  /** `$c` and `$(…)` may hold a whole command. */
  #storedCommand([first, ...rest]: readonly ShellWord[], state: State, run: Run): void {
    const [part] = first?.parts ?? [];
    const useAny = () => {
      for (const access of ['read', 'write'] as const) this.#use(UNKNOWN, access, state);
    };
    if (part?.type === 'CommandExpansion') useAny();
    const name = /^\$\{?(\w+)\}?$/.exec(first?.text ?? '')?.[1];
    for (const text of state.variables.get(name ?? '') ?? []) {
      if (isUnknown(text)) useAny();
      else run([text.join(''), ...rest.map((word) => word.text)].join(' '), state);
    }
  }

  redirect({ target, access }: FileRedirect, state: State): void {
    this.#use(this.#texts(target, state), access, state);
  }

  assign(name: string, values: readonly ShellWord[] | undefined, state: State): State {
    const texts = values?.flatMap((value) => this.#texts(value, state)) ?? UNKNOWN;
    return { ...state, variables: new Map(state.variables).set(name, limitedTexts(texts)) };
  }

  join(one: State, other: State): State {
    if (one === other) return one;
    const places = placesOf([...one.places.values(), ...other.places.values()]);
    const names = new Set([...one.variables.keys(), ...other.variables.keys()]);
    const variables = new Map<string, readonly ShellText[]>();
    let isSame = places.size === one.places.size;
    for (const name of names) {
      const [mine, theirs] = [one.variables.get(name) ?? UNKNOWN, other.variables.get(name) ?? UNKNOWN];
      const both = limitedTexts([...mine, ...theirs]);
      isSame &&= one.variables.has(name) && both.length === mine.length;
      variables.set(name, both);
    }
    return isSame ? one : { places, variables };
  }

  lose({ places, variables }: State): State {
    return {
      places: placesOf([...places.values(), LOST]),
      variables: new Map([...variables.keys()].map((name) => [name, UNKNOWN])),
    };
  }

  #run(words: readonly ShellWord[], state: State, run: Run, depth: number): Outcome<State> {
    const name = nameOf(words);
    const args = words.slice(1);
    if (words.length === 0 || depth > MAX_DEPTH) return same(state);
    if (DIRECTORY_CHANGERS.has(name)) return this.#changeDirectory(name, args, state);
    if (name === 'eval' || name === 'trap') {
      const { succeeded, failed } = run(args.map(({ pieces }) => scriptOf(pieces)).join(' '), state);
      return same(this.join(this.join(state, succeeded), failed));
    }
    const inner = this.#inOptionDirectories(words, state);
    this.#program(name, args, inner);
    if (SETTERS.has(name)) return same(this.#unset(name, args, state));
    const starts = WRAPPERS.has(name) ? commandStarts(name, words) : [];
    const ran = RUNNERS.has(name) ? ranBySubcommand(name, words) : { starts: [], scripts: [] };
    const outcomes = [...starts, ...ran.starts].map((at) =>
      this.#run(wrappedCommand(name, words, at), inner, run, depth + 1),
    );
    for (const script of ran.scripts) run(script, inner);
    if (WRAPPERS.has(name)) this.#behindWrapper(name, words, inner, run);
    return RUN_BY_SHELL.has(name) ? (outcomes[0] ?? same(state)) : same(state);
  }

  /** Behind a wrapper such as `sudo`, any word may be the program, and any text a script. */
  #behindWrapper(wrapper: string, all: readonly ShellWord[], state: State, run: Run): void {
    const args = all.slice(1);
    const at = args.findIndex((word) => FILE_PROGRAMS.has(nameOf([word])));
    if (at >= 0) this.#program(nameOf(args.slice(at)), args.slice(at + 1), state);
    const replaced = INSERTERS.has(wrapper) ? replacedText(args) : undefined;
    for (const { value, pieces } of args) {
      const script = scriptOf(pieces);
      if (/\s/.test(value)) run(replaced ? script.replaceAll(replaced, '$_') : script, state);
    }
  }

  #changeDirectory(name: string, args: readonly ShellWord[], state: State): Outcome<State> {
    const operands = args.filter(({ value }) => !/^(?:-[LPen@]+|--)$/.test(value));
    const [target] = operands;
    const home: readonly ShellText[] = state.variables.has('HOME') ? UNKNOWN : [[this.#workspace.home]];
    // `cd $x` changes to the home directory if `$x` is empty.
    const isEmpty = (text: ShellText) => text.every((element) => element === '');
    const texts = (target ? this.#texts(target, state) : home).flatMap((it) =>
      isEmpty(it) ? UNKNOWN : [it],
    );
    if (!texts.some(isUnknown)) this.#use(texts, 'read', state);
    const places = [...state.places.values()].flatMap((place): Place[] => {
      const { directory, previous, stack } = place;
      const isKnown =
        operands.length <= 1 &&
        !/^[-+]\d+$/.test(target?.value ?? '') &&
        !(target?.value === '-' && state.variables.has('OLDPWD'));
      if (!isKnown) return [{ directory: ANYWHERE, previous: directory, stack: [] }];
      if (name === 'popd')
        return [{ directory: stack[0] ?? ANYWHERE, previous: directory, stack: stack.slice(1) }];
      if (name === 'pushd' && !target)
        return [
          { directory: stack[0] ?? ANYWHERE, previous: directory, stack: [directory, ...stack.slice(1)] },
        ];
      const below = name === 'pushd' ? [directory, ...stack] : stack;
      if (target?.value === '-') return [{ directory: previous, previous: directory, stack: below }];
      return texts.map((text) => ({
        directory: pathOf(text, directory),
        previous: directory,
        stack: below,
      }));
    });
    const isSearched = state.variables.has('CDPATH');
    const reached = placesOf(isSearched ? [...places, LOST] : places);
    return { succeeded: { ...state, places: reached }, failed: state };
  }

  /** `git -C x`, `make -C x`, `env -C x`: the program may also be in another directory. */
  #inOptionDirectories(words: readonly ShellWord[], state: State): State {
    const texts = words.flatMap((word, index) => {
      const previous = words[index - 1]?.value ?? '';
      if (index > 1 && DIRECTORY_OPTION.test(previous)) return this.#texts(word, state);
      return DIRECTORY_VALUE.test(word.value)
        ? this.#texts(word, state).map((text) => withoutPrefix(text, DIRECTORY_VALUE))
        : [];
    });
    if (texts.length === 0) return state;
    this.#use(
      texts.filter((text) => !isUnknown(text)),
      'read',
      state,
    );
    const added = [...state.places.values()].flatMap((place) =>
      texts.map((text) => ({ ...place, directory: pathOf(text, place.directory) })),
    );
    return { ...state, places: placesOf([...state.places.values(), ...added]) };
  }

  #program(name: string, args: readonly ShellWord[], state: State): void {
    const program = FILE_PROGRAMS.get(READING_GIT.has(gitCommand(name, args)) ? 'cat' : name);
    const trees = writtenTrees(name, args)?.flatMap((word) => this.#texts(word, state));
    if (trees) this.#useTrees(trees.length === 0 ? [['.']] : trees, 'write', state);
    if (!program) {
      if (!IGNORED.has(name)) this.#argumentsOfOther(args, 'read', state);
      this.#argumentsOfOther(writtenByOther(name, args), 'write', state);
      if (INTERPRETER.test(name)) this.#inlineCode(args, state);
      return;
    }
    const { options, operands, files, written } = fileArguments(name, program, args);
    // Without an operand, `ls` and `rg` read the directory they run in.
    if (program.lists && files.length === 0) this.#use([['.']], 'read', state);
    const use = (word: ShellWord, access: Access) => {
      const texts = this.#texts(word, state).flatMap(pathsIn);
      const isUrl = name === 'curl' || name === 'wget';
      this.#use(isUrl ? texts.filter((text) => !isUnknown(text) || text[0] === GAP) : texts, access, state);
    };
    if (program.reads) for (const word of [...files, ...options]) use(word, 'read');
    for (const word of written) use(word, 'write');
    const texts = files.flatMap((word) => this.#texts(word, state));
    if (namesDownloads(name, args)) this.#use(texts.map(lastOrAnyName), 'write', state);
    if (replacesFiles(name, args)) this.#use(texts.flatMap(unpackedName), 'write', state);
    if (program.writes === 'last' || name === 'mv') this.#copies(name, args, files, state);
    if (gitCommand(name, args) === 'grep') this.#trees('rg', operands.slice(2), options, state);
    else this.#trees(name, files, options, state);
    if (program.takesPattern) this.#inlineCode(operands.slice(0, 1), state);
    if (name === 'sed') this.#sedFiles(args, state);
  }

  /** `grep -r x .`, `cp -r . x` and `ln -s . x` also give access to files below the directory. */
  #trees(name: string, files: readonly ShellWord[], options: readonly ShellWord[], state: State): void {
    if (!usesTrees(name, options)) return;
    const searched = SEARCHERS.has(name) && files.length === 0;
    const texts = searched ? [['.']] : files.flatMap((word) => this.#texts(word, state));
    const target = name === 'ln' ? (files.at(-1)?.value ?? '') : '';
    // The target of a symbolic link is relative to the link.
    const directory = target.includes('/') ? target.slice(0, target.lastIndexOf('/') + 1) : '';
    if (directory !== '')
      this.#use(
        texts.map(([first, ...rest]) => joined(directory, first, rest)),
        'read',
        state,
      );
    this.#useTrees(texts, 'read', state);
    if (name === 'mv' || name === 'rm') this.#useTrees(texts, 'write', state);
  }

  #useTrees(texts: readonly ShellText[], access: Access, state: State): void {
    for (const text of texts) {
      for (const { directory } of state.places.values()) {
        const path = pathOf(text, directory);
        this.#uses[access].set(`tree ${keyOf(path)}`, { path, isCertain: false, isTree: true });
      }
    }
  }

  /** `cp sub/k .` writes `./k`: in a directory, each copy gets the name of its source. */
  #copies(name: string, args: readonly ShellWord[], files: readonly ShellWord[], state: State): void {
    const given = givenTargets(name, args);
    const last = name === 'ln' && files.length === 1 ? [] : files.slice(-1);
    const words = given.length > 0 ? given : last;
    const texts = words.flatMap((word) => this.#texts(word, state));
    const targets = words.length === 0 ? [['.']] : texts.map((it) => withoutPrefix(it, TARGET_VALUE));
    const sources = files.filter((word) => !words.includes(word)).flatMap((word) => this.#texts(word, state));
    const hasTrees = name === 'mv' || isRecursive(args);
    for (const target of targets) {
      const isDirectory = given.length > 0 || /(?:^|\/)\.{0,2}$/.test(target.at(-1)?.toString() ?? '');
      for (const source of sources.flatMap(pathsIn)) {
        const base = lastName(source);
        const copy = base && [...target, '/', ...base];
        if (copy) this.#use([copy], 'write', state, isDirectory);
        if (!copy || hasTrees) this.#useTrees([copy && isDirectory ? copy : target], 'write', state);
      }
    }
  }

  /** Code such as `open('.env')` of an interpreter: any text in it that names a file. */
  #inlineCode(args: readonly ShellWord[], state: State): void {
    const code = args.map(({ value }) => value).filter((value) => /[^\w./~-]/.test(value));
    this.#mayUse(
      code.flatMap((text) => text.match(/[\w.~-]*[./][\w./~-]*/g) ?? []),
      state,
    );
  }

  /** The names of files behind the commands `r`, `R`, `w` and `W` of sed, which need no blank: `1r.env`. */
  #sedFiles(args: readonly ShellWord[], state: State): void {
    for (const text of args.flatMap((word) => this.#texts(word, state))) {
      const script = isUnknown(text) ? '' : text.filter((it) => typeof it === 'string').join('');
      this.#mayUse(
        [...script.matchAll(/[rRwW]\s*(?=([^\n]{1,300}))/g)].map(([, name]) => name ?? ''),
        state,
      );
    }
  }

  #mayUse(names: readonly string[], state: State): void {
    const texts = [...new Set(names)].slice(0, MAX_USES + 1).map((it) => [it]);
    for (const access of ['read', 'write'] as const) this.#use(texts, access, state, false);
  }

  /** What another program does with a path is not known; a word that only the shell knows is not taken for a path. */
  #argumentsOfOther(args: readonly ShellWord[], access: Access, state: State): void {
    for (const word of args) {
      const texts = this.#texts(word, state).flatMap(pathsIn);
      const known = texts.filter((text) => !isUnknown(text));
      this.#use(known, access, state, false);
    }
  }

  /** `read x` and `unset x`: the values of the variables are no longer known. */
  #unset(name: string, args: readonly ShellWord[], state: State): State {
    const values = args.map(({ value }) => value);
    const isPrintf = name === 'printf';
    if (isPrintf && !values[0]?.startsWith('-v')) return state;
    // `-vx` holds the name in the word of the option.
    const given = (isPrintf ? values.slice(0, 2) : values).flatMap((it) => it.match(/[A-Za-z_]\w*/g) ?? []);
    const names = [
      'REPLY',
      'MAPFILE',
      ...given,
      ...given.flatMap((it) => [...it].map((_, at) => it.slice(at))),
    ];
    const known = names.filter((it) => state.variables.has(it));
    const isAny = args.some(({ pieces }) => pieces.includes(undefined));
    return [...(isAny ? state.variables.keys() : known)].reduce(
      (current, it) => this.assign(it, undefined, current),
      state,
    );
  }

  #texts(word: ShellWord, { variables, places }: State): readonly ShellText[] {
    const directories = [...places.values()].map(({ directory }) => directory);
    return textsOf(word, variables, this.#expansions, directories);
  }

  /** A directory counts as used if a pattern matches everything in it. */
  #use(texts: readonly ShellText[], access: Access, state: State, isCertain = true): void {
    const uses = this.#uses[access];
    for (const text of texts) {
      for (const { directory } of state.places.values()) {
        if (uses.size > MAX_USES) return;
        const path = [...pathOf(text, directory), INSIDE];
        if (isCertain || !path.includes(ANY)) uses.set(`${isCertain} ${keyOf(path)}`, { path, isCertain });
      }
    }
  }
}

/**
 * Stands for any name in a directory. A pattern that matches everything in the directory matches this name, and a pattern
 * that matches a file also matches this name below it.
 */
const INSIDE = '\uffff';
const MAX_DEPTH = 5;

type Run = (script: string, state: State) => Outcome<State>;

const same = (state: State): Outcome<State> => ({ succeeded: state, failed: state });

function placesOf(all: readonly Place[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const given of all) {
    const isLong = [given.directory, given.stack].some(({ length }) => length > MAX_LENGTH);
    const place = isLong ? LOST : given;
    const key = [place.directory, place.previous, ...place.stack].map(keyOf).join(' ');
    if (places.size < MAX_PLACES || places.has(key)) places.set(key, place);
    else places.set('', LOST);
  }
  return places;
}

const words = (text: string) => text.trim().split(/\s+/);

const DIRECTORY_CHANGERS = new Set(words('cd chdir pushd popd'));
/** Builtins that give variables a value that is not known. */
const SETTERS = new Set(words('read mapfile readarray getopts unset let declare typeset local printf'));
/** Options and variables that may make wildcards stand for a leading dot. */
const DOT_OPTIONS = /shopt|setopt|dotglob|glob_?dots|GLOBIGNORE/i;
const DIRECTORY_OPTION = /^(?:-C|-D|--directory|--chdir|--cwd|--git-dir|--work-tree|--prefix)$/;
const DIRECTORY_VALUE = /^(?:-C|--(?:directory|chdir|cwd|git-dir|work-tree|prefix)=)(?=.)/;
