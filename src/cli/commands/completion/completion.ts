import { type Command, Option } from 'commander';
import { nearest } from '../../../base/text/nearest.ts';
import { loadNamed } from '../../command-table.ts';
import { usageError } from '../../flags/server-flags.ts';
import { joinLines } from '../../output/format.ts';
import { sanitizeLine } from '../../terminal/text.ts';
import { type CompletionItem, completeLine, type Kind } from './next-words.ts';
import { DIRECTORIES, FILES, SCRIPTS, type Shell } from './scripts.ts';

const HELP = `
Put it where your shell looks for it, once; it asks the program itself, so it never grows old:

  bash   toolplane completion bash > ~/.local/share/bash-completion/completions/toolplane
         or, in ~/.bashrc:  source <(toolplane completion bash)
  zsh    toolplane completion zsh > "\${fpath[1]}/_toolplane"
         or, in ~/.zshrc after compinit:  source <(toolplane completion zsh)
  fish   toolplane completion fish > ~/.config/fish/completions/toolplane.fish

Then open a new shell. Commands, flags and their values are completed, and the names of your servers and secrets. Nothing
is started or changed by it.

Exit codes:
  0  done
  2  the command was not understood`;

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

/** `toolplane completion`: a script for a shell, and, hidden, the words that such a script asks for. */
export function defineCompletion(command: Command): void {
  command
    .usage('bash|zsh|fish')
    .argument('[words...]', 'bash, zsh or fish')
    .addOption(new Option('--words', 'what the words so far may go on with').hideHelp())
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
    return usageError(
      command,
      `completion takes the name of a shell${hint} (there are ${SHELLS.join(', ')})`,
    );
  }
  process.stdout.write(SCRIPTS[shell]);
}

/** Prints what may come next, a word a line, with what it means after a tab. */
export async function printCompletions(
  program: Command,
  typed: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // The root completes the flags of `chat` too.
  await loadNamed(program, ['chat']);
  await loadNamed(program, typed);
  const { items, value, before = '', begun } = completeLine(program, typed);
  const values = value ? (await valuesOf(value, env)).filter(isNoFlag) : [];
  const all = [...items, ...values.map((it) => ({ ...it, word: before + it.word }))];
  const fitting = all.filter(({ word }) => word.startsWith(begun));
  const asked = value?.kind === 'files' ? [FILES] : value?.kind === 'directories' ? [DIRECTORIES] : [];
  process.stdout.write(joinLines([...fitting.map(lineOf), ...asked]));
}

/** What somebody else named must not become a flag by being completed. */
function isNoFlag({ word }: CompletionItem): boolean {
  return !word.startsWith('-');
}

/** A word with a line break in it could not be told from two. */
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
