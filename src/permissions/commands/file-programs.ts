import type { ShellWord } from './shell-command.ts';
import { GIT_OPTIONS_WITH_VALUE, skipOptions } from './wrapped-command.ts';

type FileProgram = {
  readonly reads: boolean;
  readonly writes: 'all' | 'last' | 'none';
  /** The first argument is a pattern or a script, unless an option gives it. */
  readonly takesPattern?: true;
  /** Without a file, the program reads the directory it runs in. */
  readonly lists?: true;
};

const words = (text: string) => text.trim().split(/\s+/);

const READER: FileProgram = { reads: true, writes: 'none' };

/** How common programs use the files that they get as arguments. */
export const FILE_PROGRAMS: ReadonlyMap<string, FileProgram> = new Map<string, FileProgram>([
  ...words(
    `cat tac nl head tail less more most bat batcat sort uniq wc cut paste join comm diff colordiff sdiff cmp od xxd
    hexdump hd base64 base32 strings rev fold fmt pr column expand unexpand shuf tar zip unzip zcat zless bzcat xzcat
    zstd unzstd zstdcat md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum file source . view curl
    wget stat iconv openssl pv`,
  ).map((name) => [name, READER] as const),
  ...words('ls dir vdir tree du find').map((name) => [name, { ...READER, lists: true }] as const),
  ...words('grep egrep fgrep zgrep sed awk gawk mawk jq yq').map(
    (name) => [name, { ...READER, takesPattern: true }] as const,
  ),
  ...words('rg ag ack fd').map((name) => [name, { ...READER, takesPattern: true, lists: true }] as const),
  ...words('cp install ln rsync scp').map((name) => [name, { reads: true, writes: 'last' }] as const),
  ...words(
    `mv dd split csplit patch ed ex vi vim nvim nano pico micro emacs gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma`,
  ).map((name) => [name, { reads: true, writes: 'all' }] as const),
  ...words('touch mkdir rmdir rm unlink shred truncate tee chmod chown chgrp setfacl mkfifo mknod').map(
    (name) => [name, { reads: false, writes: 'all' }] as const,
  ),
]);

/** The subcommands of git whose arguments are files that they read. */
export const READING_GIT = new Set(words('diff blame annotate grep'));

/** Programs that search files for a pattern. */
export const SEARCHERS = new Set(words('grep egrep fgrep rg ag ack'));
/** Programs that do not open files that their arguments name. */
export const IGNORED = new Set(
  words('echo printf test [ : true false export which type kill sleep basename dirname'),
);

/** Programs whose arguments may be code that uses files. */
export const INTERPRETER = /^(?:python[\d.]*|node|deno|bun|perl|ruby|php|lua|Rscript|osascript)$/;

/** The subcommand of git. */
export function gitCommand(name: string, args: readonly ShellWord[]): string {
  return name === 'git' ? (args[skipOptions(args, 0, GIT_OPTIONS_WITH_VALUE)]?.value ?? '') : '';
}

/** The files among the arguments of a program, and those that it writes. */
export function fileArguments(
  name: string,
  program: FileProgram,
  args: readonly ShellWord[],
): Readonly<Record<'options' | 'operands' | 'files' | 'written', readonly ShellWord[]>> {
  const options = args.filter(isOption);
  const givesPattern = hasOption(options, /^-[a-zA-Z]*[ef]|^--(?:regexp|file|expression)/);
  const operands = (name === 'find' ? args.slice(0, findExpression(args)) : args).filter(
    (it) => !isOption(it),
  );
  const files = program.takesPattern && !givesPattern ? operands.slice(1) : operands;
  const outputs = optionValues(args, name === 'curl' || name === 'wget' ? DOWNLOAD_OPTION : OUTPUT_OPTION);
  return { options, operands, files, written: [...writtenFiles(name, program, args, files), ...outputs] };
}

function writtenFiles(
  name: string,
  { writes }: FileProgram,
  args: readonly ShellWord[],
  files: readonly ShellWord[],
): readonly ShellWord[] {
  if (name === 'tar') {
    const archive = optionValues(args, /^(?:-[a-zA-Z]*f|--file)$/, /^(?:-f|--file=)(?=.)/);
    const isBundle = /^[a-zA-Z]*f$/.test(args[0]?.value ?? '');
    return hasTarMode(args, TAR_READS) ? [] : [...archive, ...(isBundle ? args.slice(1, 2) : [])];
  }
  if (name === 'zip') return files.slice(0, 1);
  if (name === 'find') return optionValues(args, /^-f(?:print0?|printf|ls)$/, NEVER);
  if (COMPRESSOR.test(name) && (!replacesFiles(name, args) || hasOption(args, /^-[a-z]*k|^--keep$/)))
    return [];
  if (writes === 'all' || isInPlace(name, args)) return files;
  return writes === 'last' ? files.slice(-1) : [];
}

/** Whether a program replaces its files by others with another suffix. */
export function replacesFiles(name: string, args: readonly ShellWord[]): boolean {
  return COMPRESSOR.test(name) && !hasOption(args, /^-[a-z]*[clt]|^--(?:stdout|to-stdout|list|test)$/);
}

const COMPRESSOR = /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|unlzma|zstd|unzstd)$/;

/** Whether the files that a program writes have the names at the end of its URLs. */
export function namesDownloads(name: string, args: readonly ShellWord[]): boolean {
  if (name === 'wget') return !hasOption(args, /^-[a-zA-Z]*O|^--output-document/);
  return name === 'curl' && hasOption(args, /^-[a-zA-Z]*O|^--remote-name/);
}

/** Whether a program uses all files below its directories. */
export function usesTrees(name: string, options: readonly ShellWord[]): boolean {
  return WHOLE.has(name) || (RECURSIVE.has(name) && isRecursive(options));
}

/** Programs that use whole directories, always or with an option such as `-r`. */
const WHOLE = new Set(words('rg ag ack tar mv ln'));
const RECURSIVE = new Set(words('grep egrep fgrep cp rsync scp zip rm'));

export function isRecursive(args: readonly ShellWord[]): boolean {
  return hasOption(args, /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)/);
}

/** The words that name the target directory of a copy as an option: `-t x` and `--target-directory=x`. */
export function givenTargets(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (name === 'rsync' || name === 'scp') return [];
  return args.filter(
    ({ value }, at) => TARGET_OPTION.test(args[at - 1]?.value ?? '') || TARGET_VALUE.test(value),
  );
}

const TARGET_OPTION = /^(?:-[a-zA-Z]*t|--t[a-z-]*)$/;
/** An option that holds the target directory. */
export const TARGET_VALUE = /^(?:-[a-zA-Z]*?t|--t[a-z-]*=)(?=.)/;

/** What a program that is not in `FILE_PROGRAMS` may write: a value of `-o`, and files of `perl -pi` and `git restore`. */
export function writtenByOther(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const outputs = optionValues(args, /^(?:-o|--out(?:put|-?file)?)$/, /^--out(?:put|-?file)?=/i);
  return isInPlace(name, args) || WRITING_GIT.has(gitCommand(name, args)) ? args : outputs;
}

/** Directories of which a program may write any file, none for the directory it runs in; undefined for most programs. */
export function writtenTrees(name: string, args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const command = gitCommand(name, args);
  if (WRITING_GIT.has(command)) return args;
  if (command === 'apply' || command === 'am') return [];
  if (name === 'find') return hasOption(args, /^-delete$/) ? args.slice(0, findExpression(args)) : undefined;
  if (name === 'unzip')
    return hasOption(args, /^-[a-zA-Z]*[lptvz]/) ? undefined : optionValues(args, /^-d$/, NEVER);
  if (name === 'tar') return hasTarMode(args, TAR_EXTRACTS) ? [] : undefined;
  const isPatch = name === 'patch' && (args.every(isOption) || hasOption(args, /^-i|^--input/));
  return isPatch ? [] : undefined;
}

/** `tar xf`, `tar -xf` and `tar --extract`. */
function hasTarMode(args: readonly ShellWord[], mode: RegExp): boolean {
  return hasOption(
    args.filter((word, index) => index === 0 || isOption(word)),
    mode,
  );
}

const TAR_READS = /^-?(?!-)[^\Wf]*[tx]|^--(?:extract|get|list)/;
const TAR_EXTRACTS = /^-?(?!-)[^\Wf]*x|^--(?:extract|get)/;
const NEVER = /(?!)/;

function isOption({ value }: ShellWord): boolean {
  return /^-./.test(value);
}

function hasOption(args: readonly ShellWord[], option: RegExp): boolean {
  return args.some(({ value }) => option.test(value));
}

/** The words behind options, and those that hold an option and its value. */
function optionValues(
  args: readonly ShellWord[],
  option: RegExp,
  withValue = OUTPUT_VALUE,
): readonly ShellWord[] {
  return args.filter(
    (word, index) =>
      (option.test(args[index - 1]?.value ?? '') && !isOption(word)) || withValue.test(word.value),
  );
}

function isInPlace(name: string, args: readonly ShellWord[]): boolean {
  if (name === 'sed' || name === 'yq') return hasOption(args, /^-[a-zA-Z]*i|^--in-?place/);
  if (name === 'perl' || name === 'ruby') return hasOption(args, /^-[0-9a-z]*i/);
  return name === 'gawk' || name === 'awk' ? hasOption(args, /^(?:-i)?inplace$/) : false;
}

/** Where the tests and actions of `find` begin, behind its directories. */
function findExpression(args: readonly ShellWord[]): number {
  const at = args.findIndex(({ value }) => /^[-(!]/.test(value));
  return at === -1 ? args.length : at;
}

const WRITING_GIT = new Set(words('rm mv restore checkout'));
const OUTPUT_OPTION = /^(?:-[oOtCd]|--(?:output|output-document|output-dir|target-directory|directory))$/;
const OUTPUT_VALUE = /^(?:-[oOt]|--(?:output|output-document|output-dir|target-directory)=)(?=.)/;
/** `-so` and `-qO` are clusters. */
const DOWNLOAD_OPTION = /^(?:-[a-zA-Z]*[oO]|--(?:output|output-document|output-dir))$/;
