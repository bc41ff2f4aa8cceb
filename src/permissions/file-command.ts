import { matchesPath, type Workspace } from './path.ts';
import type { CommandMatch } from './restricted-command.ts';
import { type ShellWord, shellCommands } from './shell-command.ts';
import { optionValue, programName, WRAPPERS } from './wrapped-command.ts';

/**
 * Whether a shell command reads or writes a file that a path pattern matches: by a redirection, or as an argument of a
 * common program such as `cat` or `cp`. What other programs do with their arguments, and arguments with variables or
 * wildcards, are not known. A command that names too many files may match.
 */
export function matchFiles(
  pattern: string,
  access: 'read' | 'write',
  command: string,
  workspace: Workspace,
): CommandMatch {
  const files = filesOf(command)[access];
  if (files.slice(0, MAX_FILES).some((path) => matchesPath(pattern, path, workspace))) return { kind: 'yes' };
  return files.length > MAX_FILES ? { kind: 'maybe', reason: TOO_MANY } : { kind: 'no' };
}

/** Bounds the comparisons: a repository may have many rules. */
const MAX_FILES = 100;
const TOO_MANY = `the command names more than ${MAX_FILES} files`;

type FileUse = { readonly path: string; readonly access: 'read' | 'write' };
type Files = Readonly<Record<FileUse['access'], readonly string[]>>;

let last: { readonly command: string; readonly files: Files } | undefined;

/** Cached, because all rules are compared with one command in turn. */
function filesOf(command: string): Files {
  if (last?.command !== command) {
    const all = filesOfScript(command, 0);
    const paths = (access: FileUse['access']) => [
      ...new Set(all.flatMap((it) => (it.access === access ? [it.path] : []))),
    ];
    last = { command, files: { read: paths('read'), write: paths('write') } };
  }
  return last.files;
}

const MAX_DEPTH = 5;

function filesOfScript(source: string, depth: number): FileUse[] {
  const { commands, redirects } = shellCommands(source);
  return [
    ...redirects.flatMap(({ target, access }) => known(target).map((path) => ({ path, access }))),
    ...commands.flatMap(({ words }) => filesOfCommand(words, depth)),
  ];
}

/** Behind a wrapper such as `sudo`, any word may be the program, and any text a script. */
function filesOfCommand(words: readonly ShellWord[], depth: number): FileUse[] {
  const names = words.map(({ value }) => programName(value.trim()));
  const [first = ''] = names;
  if (!WRAPPERS.has(first)) return filesOfProgram(first, words.slice(1));
  const at = names.findIndex((name, index) => index > 0 && PROGRAMS.has(name));
  const scripts = words.slice(1).filter(({ value }) => depth < MAX_DEPTH && /\s/.test(value));
  return [
    ...(at > 0 ? filesOfProgram(names[at] as string, words.slice(at + 1)) : []),
    ...scripts.flatMap(({ value }) => filesOfScript(value, depth + 1)),
  ];
}

function filesOfProgram(name: string, args: readonly ShellWord[]): FileUse[] {
  const program = PROGRAMS.get(name);
  if (!program) return [];
  const isOption = ({ value }: ShellWord) => /^-./.test(value);
  const options = args.filter(isOption);
  const isInPlace = name === 'sed' && options.some(({ value }) => /^-[a-zA-Z]*i|^--in-place/.test(value));
  const givesPattern = options.some(({ value }) =>
    /^-[a-zA-Z]*[ef]|^--(?:regexp|file|expression)/.test(value),
  );
  const operands = args.filter((it) => !isOption(it));
  const files = program.takesPattern && !givesPattern ? operands.slice(1) : operands;
  const written =
    isInPlace || program.writes === 'all' ? files : program.writes === 'last' ? files.slice(-1) : [];
  return [
    ...(program.reads ? [...files, ...options] : [])
      .flatMap(known)
      .map((path) => ({ path, access: 'read' as const })),
    ...written.flatMap(known).map((path) => ({ path, access: 'write' as const })),
  ];
}

/** The paths that a word may hold: itself, the value of `--file=x` and `if=x`, and `x` of `@x` for curl. */
function known({ value, pieces }: ShellWord): string[] {
  if (pieces.includes(undefined) || value === '') return [];
  return [value, optionValue(value), /@(.+)$/s.exec(value)?.[1]].filter((it) => it !== undefined);
}

type Program = {
  readonly reads: boolean;
  readonly writes: 'all' | 'last' | 'none';
  /** The first argument is a pattern or a script, unless an option gives it. */
  readonly takesPattern?: true;
};

const words = (text: string) => text.trim().split(/\s+/);

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...words(
    `cat tac nl head tail less more most bat batcat sort uniq wc cut paste join comm diff colordiff sdiff cmp od xxd
    hexdump hd base64 base32 strings rev fold fmt pr column expand unexpand shuf tar zip gzip gunzip zcat zless bzip2
    bzcat xz xzcat zstd zstdcat md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum file source . view
    vi vim nvim nano emacs curl wget`,
  ).map((name) => [name, { reads: true, writes: 'none' }] as const),
  ...words('grep egrep fgrep zgrep rg ag ack sed awk gawk mawk jq yq').map(
    (name) => [name, { reads: true, writes: 'none', takesPattern: true }] as const,
  ),
  ...words('cp install ln rsync scp').map((name) => [name, { reads: true, writes: 'last' }] as const),
  ...words('mv dd split csplit patch ed ex').map((name) => [name, { reads: true, writes: 'all' }] as const),
  ...words('touch mkdir rmdir rm unlink shred truncate tee chmod chown chgrp setfacl mkfifo mknod').map(
    (name) => [name, { reads: false, writes: 'all' }] as const,
  ),
]);
