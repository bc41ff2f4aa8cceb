import { type PlainCommand, plainCommands } from './allowed-command.ts';

/** What a command certainly does at most: it reads the workspace, or it also edits files of it that are not protected. */
export type CertainEffect = 'reads' | 'edits';

/** What a shell command does, as far as its text says; where its paths lead, only the file system knows. */
export type CommandEffect = {
  /** The programs that the shell looks up in `PATH`. */
  readonly programs: readonly string[];
  /** The paths of files and directories that are read. */
  readonly reads: readonly string[];
  readonly edits: readonly FileEdit[];
};

/** One command that changes files. The last path of `cp` and `mv` is the target. */
export type FileEdit = {
  readonly program: 'cp' | 'mkdir' | 'mv' | 'rm' | 'rmdir' | 'touch';
  readonly paths: readonly string[];
};

/**
 * The effect of a command line that only consists of known programs with known options and literal words. Undefined for
 * everything else: expansions, wildcards, other redirections, other programs, and options that write or run something.
 */
export function commandEffect(command: string): CommandEffect | undefined {
  const plain = plainCommands(command) ?? [];
  const found = plain.map(effectOf);
  if (found.length === 0 || !found.every((it) => it !== undefined)) return undefined;
  const effects = found as readonly CommandEffect[];
  const edits = effects.flatMap((it) => it.edits);
  // What these programs do depends on files that an earlier command may have created.
  const isDependent = edits.length > 1 && edits.some(({ program }) => program === 'cp' || program === 'mv');
  if (isDependent || (plain.length > 1 && plain.some(({ text }) => /^cd\b/.test(text)))) return undefined;
  return {
    programs: [...new Set(effects.flatMap((it) => it.programs))],
    reads: effects.flatMap((it) => it.reads),
    edits,
  };
}

/** Text without anything that a shell expands, in whole words: plain characters and quoted text. */
const LITERAL_WORD = /^(?:[\w./:@%+,=^-]|'[^']*'|"[^"$`\\!]*")+$/;
const LITERAL_PART = /'([^']*)'|"([^"]*)"|([^'"]+)/g;

function effectOf({ words }: PlainCommand): CommandEffect | undefined {
  if (!words.every((word) => LITERAL_WORD.test(word))) return undefined;
  const [name = '', ...args] = words.map((word) =>
    [...word.matchAll(LITERAL_PART)]
      .map(([, single, double, bare]) => single ?? double ?? bare ?? '')
      .join(''),
  );
  // A word with quotes may be an assignment or a keyword for some shells.
  if (name !== words[0]) return undefined;
  const programs = BUILTINS.has(name) ? [] : [name];
  const editor = EDITORS.get(name as FileEdit['program']);
  if (editor !== undefined) {
    const paths = operandsOf(args, { flags: editor, operands: 'paths' });
    if (paths === undefined || paths.length < (name === 'cp' || name === 'mv' ? 2 : 1)) return undefined;
    if (!paths.every(isPlainPath)) return undefined;
    return { programs, reads: [], edits: [{ program: name as FileEdit['program'], paths }] };
  }
  const reads = readsOf(name, args);
  return reads?.every(isPlainPath) ? { programs, reads, edits: [] } : undefined;
}

/** `link/../x` is not `x`; the empty word is no path. */
function isPlainPath(path: string): boolean {
  return path !== '' && !/(?:^|\/)(?!\.\.?(?:\/|$))[^/]+\/(?:.*\/)?\.\.(?:\/|$)/s.test(path);
}

function readsOf(name: string, args: readonly string[]): readonly string[] | undefined {
  if (name === 'find') return findPaths(args);
  if (name === 'cd') return args.length === 1 && !args[0]?.startsWith('-') ? args : undefined;
  // `printf -v 'a[$(x)]'` runs `x`.
  if (name === 'printf') return args[0]?.startsWith('-') ? undefined : [];
  if (name === 'echo') return [];
  const reader = READERS.get(name);
  const operands = reader && operandsOf(args, reader);
  if (!reader || !operands) return undefined;
  switch (reader.operands) {
    case 'none':
      return operands.length === 0 ? [] : undefined;
    case 'words':
      return [];
    case 'format':
      return operands.every((it) => it.startsWith('+')) ? [] : undefined;
    case 'paths':
      return operands;
    case 'pattern':
      return args.some((arg) => WITHOUT_PATTERN.test(arg)) ? operands : operands.slice(1);
    case 'line numbers':
      return args[0] === '-n' && LINE_NUMBERS.test(operands[0] ?? '') ? operands.slice(1) : undefined;
    case 'filter':
      return UNSAFE_FILTER.test(operands[0] ?? '') ? undefined : operands.slice(1);
  }
}

/** `-e x`, also in a cluster, and `--files`: every operand is a path. */
const WITHOUT_PATTERN = /^(?:-[a-zA-Z]*e|--files$)/;
/** A script of `sed` that prints lines by number; other commands can write files and run programs. */
const LINE_NUMBERS = /^\d+(?:,(?:\d+|\$))?p(?:;\d+(?:,(?:\d+|\$))?p)*$/;
/** What lets a filter of `jq` read other files and the environment. */
const UNSAFE_FILTER = /import|include|env|modulemeta|search_list|\$__/i;

/** The operands of a command; undefined if it has an option that is not in the list. */
function operandsOf(
  args: readonly string[],
  { flags, values = '', long = [], hasCounts }: Reader,
): readonly string[] | undefined {
  const operands: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === '--') return [...operands, ...args.slice(at + 1)];
    if (!arg.startsWith('-') || arg === '-') {
      if (arg !== '-') operands.push(arg);
    } else if (arg.startsWith('--')) {
      if (!long.includes(arg.slice(2).replace(/=.*$/s, ''))) return undefined;
    } else if (!(hasCounts && /^-\d+$/.test(arg))) {
      const end = [...arg.slice(1)].findIndex((letter) => !flags.includes(letter));
      if (end === -1) continue;
      if (!values.includes(arg[end + 1] as string)) return undefined;
      // The value is the rest of the word, or the next word.
      if (end + 2 === arg.length) at += 1;
      if (at >= args.length) return undefined;
    }
  }
  return operands;
}

/** The directories that `find` searches; undefined if an expression is not in the list. */
function findPaths(args: readonly string[]): readonly string[] | undefined {
  const start = args.findIndex((arg) => arg.startsWith('-'));
  const paths = start === -1 ? args : args.slice(0, start);
  for (let at = paths.length; at < args.length; at++) {
    const expression = args[at] as string;
    if (FIND_TESTS.has(expression)) at += 1;
    else if (!FIND_FLAGS.has(expression)) return undefined;
  }
  return paths;
}

const words = (text: string) => text.trim().split(/\s+/);

const FIND_TESTS = new Set(
  words('-name -iname -path -ipath -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin'),
);
const FIND_FLAGS = new Set(words('-not -o -or -a -and -print -print0 -empty -prune -xdev'));

type Reader = {
  /** Options without a value, as letters. */
  readonly flags: string;
  /** Options with a value that is no path, as letters. */
  readonly values?: string;
  /** Long options, with or without such a value. */
  readonly long?: readonly string[];
  /** Whether `-20` is an option. */
  readonly hasCounts?: true;
  readonly operands: 'none' | 'words' | 'format' | 'paths' | 'pattern' | 'line numbers' | 'filter';
};

/** Flags that change how matches are found and shown; none follows symbolic links or runs a program. */
const GREP_LONG = words(
  'include exclude exclude-dir color colour ignore-case line-number recursive word-regexp line-regexp count ' +
    'files-with-matches files-without-match only-matching no-filename with-filename invert-match fixed-strings ' +
    'extended-regexp perl-regexp max-count after-context before-context context no-messages quiet',
);
const RG_LONG = words(
  'files glob iglob type type-not hidden no-ignore ignore-case smart-case case-sensitive fixed-strings word-regexp ' +
    'line-number no-line-number no-heading heading count files-with-matches only-matching multiline max-count ' +
    'max-depth context color sort with-filename no-filename invert-match',
);

/**
 * Programs that neither write files nor run programs with these options. Options that follow symbolic links, or read the
 * names of files from a file, are left out.
 */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['basename', { flags: '', operands: 'words' }],
  ['cat', { flags: 'nbAvETestu', operands: 'paths' }],
  ['comm', { flags: '123', operands: 'paths' }],
  ['cut', { flags: 's', values: 'dfcb', operands: 'paths' }],
  ['date', { flags: 'uR', operands: 'format' }],
  ['dirname', { flags: '', operands: 'words' }],
  ['du', { flags: 'shckma', values: 'd', long: ['max-depth'], operands: 'paths' }],
  ['false', { flags: '', operands: 'words' }],
  ['file', { flags: 'bi', operands: 'paths' }],
  ['grep', { flags: 'rnicvlLHhwxEFPoqsaIbG', values: 'ABCme', long: GREP_LONG, operands: 'pattern' }],
  ['head', { flags: 'qv', values: 'nc', hasCounts: true, operands: 'paths' }],
  ['hostname', { flags: 'f', operands: 'none' }],
  ['id', { flags: 'ung', operands: 'words' }],
  ['jq', { flags: 'rcMCsenSa', operands: 'filter' }],
  [
    'ls',
    { flags: 'aAlhrtRS1dFpinsgoGcukmxCUXfQq', long: ['color', 'all', 'human-readable'], operands: 'paths' },
  ],
  ['md5sum', { flags: 'b', operands: 'paths' }],
  ['nl', { flags: '', values: 'bwsv', operands: 'paths' }],
  ['ps', { flags: 'efA', operands: 'none' }],
  ['pwd', { flags: 'LP', operands: 'none' }],
  ['readlink', { flags: 'fem', operands: 'paths' }],
  ['realpath', { flags: 'em', operands: 'paths' }],
  ['rg', { flags: 'nilcvwFSoHIUsNuxpPa', values: 'ABCemgtT', long: RG_LONG, operands: 'pattern' }],
  ['sed', { flags: 'n', operands: 'line numbers' }],
  ['sha1sum', { flags: 'b', operands: 'paths' }],
  ['sha256sum', { flags: 'b', operands: 'paths' }],
  ['sleep', { flags: '', operands: 'words' }],
  ['sort', { flags: 'nrufbdghiVRMcsz', values: 'kt', operands: 'paths' }],
  ['stat', { flags: 't', values: 'c', operands: 'paths' }],
  ['tail', { flags: 'qv', values: 'nc', hasCounts: true, operands: 'paths' }],
  ['tr', { flags: 'dscCt', operands: 'words' }],
  ['tree', { flags: 'adfhpsugDi', values: 'LIP', operands: 'paths' }],
  ['true', { flags: '', operands: 'words' }],
  ['uname', { flags: 'asrmnpo', operands: 'none' }],
  // A second operand of `uniq` is written.
  ['uniq', { flags: 'cdui', operands: 'none' }],
  ['wc', { flags: 'lwcmL', operands: 'paths' }],
  ['which', { flags: 'a', operands: 'words' }],
  ['whoami', { flags: '', operands: 'none' }],
]);

const BUILTINS = new Set(words('cd echo false printf pwd true'));

/** Programs that change files, and their options. */
const EDITORS: ReadonlyMap<FileEdit['program'], string> = new Map([
  ['cp', ''],
  ['mkdir', 'pv'],
  ['mv', ''],
  ['rm', 'rRfvd'],
  ['rmdir', 'v'],
  ['touch', 'acm'],
]);
