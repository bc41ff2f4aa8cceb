import type { Command } from 'commander';
import { isSecretName, NAME_RULE } from '../config/secrets/secret-store.ts';
import { ExitCode } from './exit-code.ts';
import { type Actions, actionWord } from './host/action-word.ts';
import { refuse } from './host/server-flags.ts';
import { startSecret } from './secret/start.ts';

const HELP = `
Keeps what servers need and nobody should read in a file of yours alone (secrets.json in ~/.toolplane, or in
TOOLPLANE_HOME). The entry of a server refers to a secret by \${secret:name}, in its command, args, env, url or headers.

  toolplane secret set github               asks for the value and does not show it
  pass show github | toolplane secret set github
  toolplane secret set key < key.pem
  toolplane secret list                     the names, and which servers refer to each
  toolplane secret remove github

A value is never taken from the command line, where other programs can see it and shells remember it. The newline at the
end of what is piped is not part of it. A server that runs gets a changed value when it is connected the next time.

Exit codes:
  0    done
  1    it could not be done; stderr says why
  2    the command was not understood, or there is no such secret
  130  it was interrupted; nothing was changed`;

const ACTIONS: Actions<'list' | 'set' | 'remove'> = {
  list: [0, 0, ''],
  // More than a name is most likely the value, which is refused in words of its own.
  set: [1, Number.POSITIVE_INFINITY, '<name>'],
  remove: [1, 1, '<name>'],
};

const NOT_HERE =
  'a value is not taken from the command line, where others can see it; type it when asked, or pipe it in';

/** `toolplane secret`: what `${secret:name}` stands for. */
export function defineSecret(command: Command): void {
  command
    .usage('[options] [list | set <name> | remove <name>]')
    .argument('[words...]', 'list, set <name>, or remove <name>')
    .option('--json', 'print what was done, or the list, as one JSON document')
    .addHelpText('after', HELP)
    .action(async (words: string[], { json }: { json?: true }, command: Command) => {
      const action = actionWord(command, words, ACTIONS);
      const [, name = '', ...more] = words;
      // What was typed is not shown again: it may be the value.
      if (action === 'set' && (more.length > 0 || name.includes('='))) refuse(command, NOT_HERE);
      if (action === 'set' && !isSecretName(name)) refuse(command, NAME_RULE);
      const format = json ? 'json' : 'text';
      const code = await startSecret(
        action === 'list' ? { action, format } : { action, format, name },
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}
