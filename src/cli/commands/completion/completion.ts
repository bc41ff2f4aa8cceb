import { type Command, Option } from 'commander';
import { nearest } from '../../../base/text/nearest.ts';
import { loadNamed } from '../../command-table.ts';
import { usageError } from '../../flags/server-flags.ts';
import { joinLines } from '../../output/format.ts';
import { sanitizeLine } from '../../terminal/sanitize.ts';
import { type CompletionItem, completeLine, type Kind } from './next-words.ts';
import { DIRECTORIES, FILES, SCRIPTS, type Shell } from './scripts.ts';

const HELP = `
Install the script once. The script calls toolplane for completions and needs no updates:

  bash   toolplane completion bash > ~/.local/share/bash-completion/completions/toolplane
         or, in ~/.bashrc:  source <(toolplane completion bash)
  zsh    toolplane completion zsh > "\${fpath[1]}/_toolplane"
         or, in ~/.zshrc after compinit:  source <(toolplane completion zsh)
  fish   toolplane completion fish > ~/.config/fish/completions/toolplane.fish

Then open a new shell. The script completes commands, flags and their values, and the names of servers and secrets.
It starts no server and changes no file.

Exit codes:
  0  success
  2  usage error`;

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

/** `toolplane completion`: prints the script for a shell; the hidden `--words` prints completions for the script. */
export function defineCompletion(command: Command): void {
  command
    .usage('bash|zsh|fish')
    .argument('[words...]', 'bash, zsh or fish')
    .addOption(new Option('--words', 'print completions of these words').hideHelp())
    .addHelpText('after', HELP)
    .action(async (items: string[], values: { words?: true }) => {
      if (!values.words) return printScript(items, command);
      await printCompletions(command.parent ?? command, items, process.env);
    });
}

async function printScript(items: readonly string[], command: Command): Promise<void> {
  const [word = '', ...more] = items;
  const shell = SHELLS.find((it) => it === word);
  if (shell === undefined || more.length > 0) {
    const closest = nearest(word, SHELLS);
    const hint = closest === undefined || more.length > 0 ? '' : `; did you mean ${closest}?`;
    return usageError(command, `completion needs the name of a shell${hint} (known: ${SHELLS.join(', ')})`);
  }
  process.stdout.write(SCRIPTS[shell]);
}

/** Prints completions, one per line, each with its description after a tab. */
export async function printCompletions(
  program: Command,
  typed: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const given = typed.slice(0, -1);
  await loadNamed(program, given);
  // Without a command, the flags of `chat` are completed.
  const hasCommand = given.some((word) => program.commands.some((command) => command.name() === word));
  if (!hasCommand && typed.some((word) => word.startsWith('-'))) await loadNamed(program, ['chat']);
  const { items, value, before = '', begun } = completeLine(program, typed);
  const values = value ? (await valuesOf(value, env)).filter(isNoFlag) : [];
  const all = [...items, ...values.map((it) => ({ ...it, word: before + it.word }))];
  const fitting = all.filter(({ word }) => word.startsWith(begun));
  const asked = value?.kind === 'files' ? [FILES] : value?.kind === 'directories' ? [DIRECTORIES] : [];
  process.stdout.write(joinLines([...fitting.map(lineOf), ...asked]));
}

/** A server whose name starts with `-` must not be completed to a flag. */
function isNoFlag({ word }: CompletionItem): boolean {
  return !word.startsWith('-');
}

/** A completion must be on one line. */
function lineOf({ word, description }: CompletionItem): string {
  return `${word.replaceAll(/[\n\r\t]/g, ' ')}\t${sanitizeLine(description)}`;
}

async function valuesOf(kind: Kind, env: NodeJS.ProcessEnv): Promise<CompletionItem[]> {
  switch (kind.kind) {
    case 'words':
      return kind.words.map((word) => ({ word, description: '' }));
    case 'servers':
      return (await import('./known-names.ts')).serverItems(env);
    case 'secrets':
      return (await import('./known-names.ts')).secretItems(env);
    case 'sources':
      return (await import('./known-names.ts')).sourceItems();
    case 'files':
    case 'directories':
    case 'nothing':
      return [];
  }
}
