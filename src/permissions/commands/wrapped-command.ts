import { type ShellWord, shellCommands } from './shell-command.ts';

/** The text without the directory of its first word. */
export function baseName(text: string): string {
  const end = text.indexOf(' ');
  return text.slice(text.slice(0, end < 0 ? text.length : end).lastIndexOf('/') + 1);
}

/** The program without its directory; `gtimeout` is GNU `timeout` on macOS, `fdfind` is `fd` on Debian. */
export function programName(path: string): string {
  return baseName(path)
    .replace(/^g(?=(?:chroot|env|find|nice|nohup|stdbuf|time|timeout|xargs)$)/, '')
    .replace(/^fdfind$/, 'fd')
    .replace(/^(bash|zsh|ksh|fish)(?:-static|-?[\d.]+)$/, '$1');
}

/** `-Srm`, `--command=rm` and `x=rm` hold a word that may be a command. */
export function optionValue(text: string): string | undefined {
  return /^(?:-\w|[\w-]+\+?=)(.+)$/s.exec(text)?.[1];
}

/** `-c`, also in a cluster such as `-lc` or `-ce`: a later word is a script. */
function isCommandOption({ value }: ShellWord): boolean {
  return /^-[a-zA-Z]*c[a-zA-Z]*$|^--command\b/.test(value);
}

/** The words of a command that a shell runs as scripts. */
export function scriptWords(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  if (name === 'env') {
    return words.some(({ value }) => /^-\w*S|^--split-string/.test(value)) ? words.slice(1) : [];
  }
  if (name === 'watch' || name === 'parallel' || name === 'ssh') {
    return words.slice(commandStarts(name, words)[0]);
  }
  if (SCRIPT_TAKERS.has(name)) return words.slice(1);
  if (SHELLS.has(name)) {
    const end = shellScriptIndex(words);
    const option = words.slice(0, end).findIndex(isCommandOption);
    return option === -1 ? [] : words.slice(option, end + 1);
  }
  const option = COMMAND_OPTION_TAKERS.has(name) ? words.findIndex(isCommandOption) : -1;
  return option === -1 ? [] : words.slice(option);
}

/** The first word behind the options of a shell: the script of `-c`, or the file to run. Positional parameters follow. */
function shellScriptIndex(words: readonly ShellWord[]): number {
  let at = 1;
  while (at < words.length) {
    const { value } = words[at] as ShellWord;
    if (!/^[-+]/.test(value)) break;
    at += /^[-+]\w*o|^--(?:rc|init-)file$/i.test(value) ? 2 : 1;
  }
  return at;
}

/** Whether a shell may take a word for an option: `$x`, `"$@"` and `-$x`, but not `$dir/build.sh`. */
function mayBeOption({ pieces }: ShellWord): boolean {
  if (!pieces.includes(undefined)) return false;
  return (!pieces[0] || /^[-+]/.test(pieces[0])) && /^[-+]?\w*$/.test(pieces.join(''));
}

/** Whether a command without a script among its arguments reads one from standard input. */
export function readsInput(name: string, words: readonly ShellWord[]): boolean {
  if (SHELLS.has(name)) {
    const end = shellScriptIndex(words);
    const options = words.slice(1, end);
    const script = words[end];
    if ([...options, ...words.slice(end, end + 1)].some(mayBeOption)) return true;
    if (options.some(({ value }) => /^-[a-zA-Z]*s/.test(value))) return true;
    return !options.some(isCommandOption) && (!script || DESCRIPTOR_FILE.test(script.value));
  }
  if (name === 'source' || name === '.') {
    return words.slice(1).some((word) => mayBeOption(word) || DESCRIPTOR_FILE.test(word.value));
  }
  if (name === 'at' || name === 'batch') return true;
  return !words.some(isCommandOption) && commandStarts(name, words).every((at) => at >= words.length);
}

/** Files that stand for standard input or another open descriptor. */
const DESCRIPTOR_FILE = /^\/(?:dev|proc)\/.*(?:stdin|fd\b)/s;

/** Whether `xargs` with the command from `start` on runs whatever it reads: as a script, or because it names no program. */
export function takesAnyCommand(name: string, words: readonly ShellWord[], start: number): boolean {
  const command = words.slice(start);
  const names = command.map(({ value }) => programName(value));
  if (names.length === 0) return name === 'parallel';
  if (SHELLS.has(names[0] as string)) {
    const at = shellScriptIndex(command);
    // `bash -n` only checks the syntax.
    if (names.slice(0, at).includes('-n')) return false;
    const script = command[at]?.value;
    return script === undefined || mayRun(script, replacedText(words.slice(0, start)));
  }
  return names.every((it) => WRAPPERS.has(it) || /^-|=/.test(it));
}

/** Whether a script may run the replaced text as a command: `{} x` and `sudo {}`, but not `cd {} && ls`. */
function mayRun(script: string, replaced: string): boolean {
  if (!script.includes(replaced)) return false;
  const { commands, error } = shellCommands(script);
  return (
    error !== undefined ||
    commands.some(({ words }) =>
      WRAPPERS.has(programName(words[0]?.value ?? ''))
        ? words.some(({ value }) => value.includes(replaced))
        : words[0]?.value.includes(replaced),
    )
  );
}

/** The text in its command that `xargs` replaces with what it reads. */
export function replacedText(options: readonly ShellWord[]): string {
  const values = options.map(({ value }) => value);
  const at = values.findIndex((value) => /^-[IiJ]|^--replace/.test(value));
  const attached = /^(?:-[IiJ]|--replace=)(.+)/s.exec(values[at] ?? '')?.[1];
  return attached ?? (/^-[IJ]$/.test(values[at] ?? '') ? values[at + 1] : undefined) ?? '{}';
}

/** The command that a wrapper runs, from `start` on; what `xargs` or `find` inserts is unknown text. */
export function wrappedCommand(
  name: string,
  words: readonly ShellWord[],
  start: number,
): readonly ShellWord[] {
  const command = words.slice(start, commandEnd(name, words, start));
  const isReader = ARGUMENT_READERS.has(name);
  if ((!isReader && name !== 'find' && name !== 'fd') || command.length === 0) return command;
  const replaced = isReader ? replacedText(words.slice(0, start)) : '{}';
  if (SHELLS.has(programName((command[0] as ShellWord).value))) {
    return command.map((word) => (word.value === replaced ? word : withGaps(word, replaced)));
  }
  const filled = command.map((word) => withGaps(word, replaced));
  // Without a text to replace, what `xargs` reads or `fd` finds follows the command.
  return name === 'find' || filled.some((word, index) => word !== command[index]) ? filled : [...filled, GAP];
}

const GAP: ShellWord = { text: '', value: '', pieces: [undefined] };

function withGaps(word: ShellWord, replaced: string): ShellWord {
  if (!word.value.includes(replaced)) return word;
  const pieces = word.pieces.flatMap((piece) =>
    piece === undefined
      ? [piece]
      : piece.split(replaced).flatMap((part, at) => (at > 0 ? [undefined, part] : [part])),
  );
  return { text: word.text, value: word.value, pieces };
}

/** Where the command ends that `find` or `parallel` runs: other expressions or arguments follow. */
function commandEnd(name: string, words: readonly ShellWord[], start: number): number {
  const isEnd = name === 'find' ? /^[;+]$/ : name === 'parallel' ? /^::::?\+?$/ : undefined;
  const end = words.findIndex(({ value }, index) => index > start && isEnd?.test(value));
  return end === -1 ? words.length : end;
}

/** What `uv run`, `npx` or `git bisect run` runs: a command behind its options or behind `--`, or the value of an option. */
export function ranBySubcommand(
  name: string,
  words: readonly ShellWord[],
): { readonly starts: readonly number[]; readonly scripts: readonly string[] } {
  const at = skipOptions(words, 1, RUNNER_OPTIONS_WITH_VALUE);
  const found = RUNNERS.get(name)?.find((it) =>
    subcommandWords(it).every((word, index) => words[at + index]?.value === word),
  );
  if (found === undefined) return { starts: [], scripts: [] };
  const from = found === '' ? 1 : at + subcommandWords(found).length;
  const start = skipOptions(words, from, RUNNER_OPTIONS_WITH_VALUE) + (name === 'direnv' ? 1 : 0);
  const scripts = words.slice(from, start).flatMap(({ value }, index) => {
    if (!/^(?:-c|-x|--call|--command|--exec|--run)(?:$|=)/.test(value)) return [];
    return optionValue(value) ?? words[from + index + 1]?.value ?? [];
  });
  if (found === 'rebase') return { starts: [], scripts };
  const dashes = words.findIndex(({ value }, index) => index >= from && value === '--');
  return { starts: dashes === -1 ? [start] : [start, dashes + 1], scripts };
}

function subcommandWords(subcommand: string): string[] {
  return subcommand === '' ? [] : subcommand.split(' ');
}

/** The index of the first word that is neither an option, nor the value of one, nor an assignment. */
export function skipOptions(
  words: readonly ShellWord[],
  from: number,
  withValue: ReadonlySet<string>,
): number {
  let at = from;
  while (at < words.length) {
    const { value } = words[at] as ShellWord;
    if (value === '--') return at + 1;
    if (withValue.has(value)) at += 2;
    else if (/^-.|^\w+=/s.test(value)) at += 1;
    else break;
  }
  return at;
}

/** Where the commands begin that a wrapper runs. */
export function commandStarts(name: string, words: readonly ShellWord[]): number[] {
  if (name === 'find' || name === 'fd') {
    return words.flatMap(({ value }, index) => (EXEC_OPTIONS.has(value) ? [index + 1] : []));
  }
  if (SHELLS.has(name)) {
    // `bash build.sh` runs the file. Unknown text may also be `-c` and a script.
    const end = shellScriptIndex(words);
    const options = words.slice(1, end);
    // `bash -n "$f"` only checks the syntax. Other unknown text could end that mode.
    const isChecked = options.some(({ value }) => value === '-n') && /^"[^@]*"$/.test(words[end]?.text ?? '');
    const isFile =
      end < words.length && !options.some(isCommandOption) && !(isChecked && end === words.length - 1);
    return words.flatMap((word, index) =>
      (index === end && isFile) || (index > 0 && index < end && word.pieces.includes(undefined))
        ? [index]
        : [],
    );
  }
  const { values = '', skip = 0 } = WRAPPED[name] ?? {};
  return [skipOptions(words, 1, new Set(values.match(/\S+/g))) + skip];
}

const EXEC_OPTIONS = new Set('-exec -execdir -ok -okdir -x --exec -X --exec-batch'.split(' '));

export const GIT_OPTIONS_WITH_VALUE = new Set(
  '-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source'.split(' '),
);

const SSH_VALUES = '-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w';

const SHELLS = new Set(
  'bash sh zsh dash ksh mksh lksh oksh ash rbash fish csh tcsh yash posh pwsh powershell nu elvish xonsh'.split(
    ' ',
  ),
);
export const SCRIPT_READERS = new Set([
  ...SHELLS,
  ...'source . ssh su sudo doas runuser chroot unshare nsenter at batch'.split(' '),
]);
export const ARGUMENT_READERS = new Set(['xargs', 'parallel']);
/** Wrappers that join their arguments to one script. */
export const ARGUMENT_JOINERS = new Set(['eval', 'ssh', 'watch', 'parallel']);
const SCRIPT_TAKERS = new Set(
  'eval trap alias mapfile readarray compgen ssh watch parallel runuser'.split(' '),
);
const COMMAND_OPTION_TAKERS = new Set([...SHELLS, 'flock', 'script', 'sg', 'su']);

/** Wrappers whose options with values, or arguments before the command, are known. */
const WRAPPED: Readonly<Record<string, { readonly values?: string; readonly skip?: number }>> = {
  sudo: { values: '-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot' },
  doas: { values: '-u -C' },
  env: { values: '-u -C --unset --chdir' },
  exec: { values: '-a' },
  nice: { values: '-n' },
  ionice: { values: '-c -n -p' },
  timeout: { values: '-s -k --signal --kill-after', skip: 1 },
  stdbuf: { values: '-i -o -e' },
  xargs: { values: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs' },
  watch: { values: '-n -d --interval' },
  parallel: {
    values: '-j -a -N -n -L -S -C --jobs --arg-file --colsep --joblog --results --delay --timeout',
  },
  strace: { values: '-e -o -p -s -u -E' },
  flock: { values: '-w -E --timeout', skip: 1 },
  chroot: { skip: 1 },
  taskset: { skip: 1 },
  chrt: { skip: 1 },
  setarch: { skip: 1 },
  ssh: { values: SSH_VALUES, skip: 1 },
  mosh: { skip: 1 },
  su: { skip: 1 },
};

/** Programs that run a command in the same environment: their subcommands that do so, or '' for the program itself. */
export const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...'npx pnpx bunx uvx cross-env dotenv nix-shell'.split(' ').map((name) => [name, ['']] as const),
  ...'poetry pipenv pdm hatch rye conda mamba micromamba pixi op doppler infisical dotenvx foreman honcho'
    .split(' ')
    .map((name) => [name, ['run']] as const),
  ...'bundle asdf rbenv pyenv nodenv aws-vault direnv'.split(' ').map((name) => [name, ['exec']] as const),
  ['npm', ['exec', 'x']],
  ['pnpm', ['exec', 'dlx']],
  ['yarn', ['exec', 'dlx']],
  ['bun', ['x']],
  ['uv', ['run', 'tool run']],
  ['mise', ['exec', 'x']],
  ['nix', ['develop', 'shell']],
  ['perf', ['stat', 'record', 'trace']],
  ['rr', ['record']],
  ['git', ['bisect run', 'submodule foreach', 'rebase']],
]);

const RUNNER_OPTIONS_WITH_VALUE = new Set([
  ...GIT_OPTIONS_WITH_VALUE,
  ...'-p --package --with --python --extra --group --env-file --directory --project --cwd --prefix'.split(
    ' ',
  ),
  ...'-w --workspace -n --name -e --env -f --filter -F'.split(' '),
]);

export const WRAPPERS = new Set([
  ...SHELLS,
  ...SCRIPT_TAKERS,
  ...Object.keys(WRAPPED),
  ...'command builtin hash jobs busybox toybox script pkexec sg gosu su-exec setpriv unshare nsenter fakeroot'.split(
    ' ',
  ),
  ...'bwrap firejail proot nohup setsid numactl unbuffer systemd-run caffeinate find fd entr ltrace'.split(
    ' ',
  ),
  ...'valgrind time gdb chronic rlwrap linux32 linux64 eatmydata torsocks torify proxychains proxychains4'.split(
    ' ',
  ),
  ...'dbus-run-session dbus-launch xvfb-run catchsegv heaptrack prlimit cpulimit choom chpst setuidgid'.split(
    ' ',
  ),
  ...'envdir softlimit s6-setuidgid tini dumb-init capsh runcon dtach abduco tmux screen hyperfine sem'.split(
    ' ',
  ),
  ...'mosh flatpak-spawn nodemon watchexec concurrently coreutils ld.so ld-linux-x86-64.so.2'.split(' '),
]);

/** Wrappers that insert what they read or find into their commands. */
export const INSERTERS = new Set(['xargs', 'parallel', 'find', 'fd']);
/** Wrappers that run a builtin in the same shell. */
export const RUN_BY_SHELL = new Set(['command', 'builtin']);

/** The program of a command. */
export function nameOf([first]: readonly ShellWord[]): string {
  return programName(first?.value.trim() ?? '');
}
