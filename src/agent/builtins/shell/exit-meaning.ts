/** The meaning of exit code 1 for programs that use it for a result, in the words of the `claude` CLI. */
const MEANINGS: Readonly<Record<string, string>> = {
  '[': 'Condition is false',
  diff: 'Files differ',
  egrep: 'No matches found',
  fgrep: 'No matches found',
  find: 'Some directories were inaccessible',
  'git diff': 'Files differ',
  grep: 'No matches found',
  rg: 'No matches found',
  test: 'Condition is false',
};

/** Programs that print nothing when they succeed. */
const SILENT = new Set('cd chgrp chmod chown cp export ln mkdir mv rm rmdir touch unset wait'.split(' '));

/** The meaning of the exit code of a shell command if it is not an error; the last program of the command decides. */
export function exitMeaning(command: string, code: number): string | undefined {
  if (code !== 1) return undefined;
  const [program = '', argument] = simpleCommands(command).at(-1) ?? [];
  const name = program === 'git' ? `git ${argument}` : program;
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
}

/** Whether a successful shell command prints nothing. */
export function isSilent(command: string): boolean {
  const all = simpleCommands(command);
  return all.length > 0 && all.every(([program = '']) => SILENT.has(program));
}

/** The words of the commands that `&&`, `||`, `;`, `|` and newlines join; quoted text is one word without its content. */
function simpleCommands(command: string): string[][] {
  const plain = command.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '_');
  return plain
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().split(/\s+/))
    .filter(([program]) => program !== '');
}
