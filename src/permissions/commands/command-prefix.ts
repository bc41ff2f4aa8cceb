/** `npm run test` for `npm run test -- --watch`; undefined for commands with several parts or too general ones. */
export function commandPrefix(command: string): string | undefined {
  // A command with quotes, variables, redirections or further commands has no prefix.
  if (!/^[\w@%+=:,./ -]+$/.test(command)) return undefined;
  const words = command.trim().split(/ +/);
  const [program = '', first = '', second = ''] = words;
  if (!/^[\w.-]+$/.test(program) || UNSAFE_PROGRAMS.has(program)) return undefined;
  const nested = COMMAND_PROGRAMS.get(program);
  const isName = (word: string) => /^[a-z][\w:-]*$/i.test(word);
  const kept = !nested ? [program] : nested.includes(first) ? [program, first, second] : [program, first];
  const isUseful = kept.length < words.length && kept.slice(1).every(isName);
  const last = kept.at(-1) ?? '';
  if (!isUseful || UNSAFE_PROGRAMS.has(last) || (nested && RUNNERS.has(last))) return undefined;
  return kept.join(' ');
}

/** The prefix of a command whose program has subcommands: `git add` for `git add .`. */
export function subcommandPrefix(command: string): string | undefined {
  const prefix = commandPrefix(command);
  return prefix?.includes(' ') ? prefix : undefined;
}

/** Programs whose arguments are programs, or that remove or overwrite what they are given. */
const UNSAFE_PROGRAMS = new Set(
  `awk bash bun chmod chown chroot command curl dash dd deno doas env eval exec find fish ksh ln lua make mv nice node nohup
  npx parallel perl php pip pip3 pipx pnpx python python3 rm rsync ruby scp sed sh ssh sudo su tee time timeout uv uvx watch
  wget xargs zsh`.split(/\s+/),
);
/** Programs whose first argument is a command; the value lists those whose first argument is a command again. */
const COMMAND_PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['git', []],
  ['gh', ['pr', 'issue', 'repo', 'run']],
  ['npm', ['run', 'exec']],
  ['pnpm', ['run', 'exec']],
  ['yarn', ['run', 'exec']],
  ['cargo', []],
  ['go', []],
  ['docker', ['compose', 'image', 'container']],
  ['kubectl', []],
  ['dotnet', []],
  ['terraform', []],
]);
/** Commands that run any program. */
const RUNNERS = new Set(['exec', 'run', 'x', 'dlx']);
