import { type Command, Option } from 'commander';
import { nearest } from '../base/text/nearest.ts';
import { printWords } from './completion/print-words.ts';
import type { Shell } from './completion/scripts.ts';
import { SCRIPTS } from './completion/scripts.ts';
import { refuse } from './host/server-flags.ts';

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
    .action(async (words: string[], values: { words?: true }) => {
      if (!values.words) return printScript(words, command);
      await printWords(command.parent ?? command, words, process.env);
    });
}

async function printScript(words: readonly string[], command: Command): Promise<void> {
  const [word = '', ...more] = words;
  const shell = SHELLS.find((it) => it === word);
  if (shell === undefined || more.length > 0) {
    const meant = nearest(word, SHELLS);
    const hint = meant === undefined || more.length > 0 ? '' : `; did you mean ${meant}?`;
    return refuse(command, `completion takes the name of a shell${hint} (there are ${SHELLS.join(', ')})`);
  }
  process.stdout.write(SCRIPTS[shell]);
}
