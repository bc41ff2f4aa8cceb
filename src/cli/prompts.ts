import type { Command } from 'commander';
import { ExitCode } from './exit-code.ts';
import { type Actions, actionWord } from './host/action-word.ts';
import { namedServers } from './host/named-servers.ts';
import { addServerChoice, addServerFlags, chosenNames, refuse } from './host/server-flags.ts';
import { startPrompts } from './prompts/start.ts';

const HELP = `
Connects the servers, lists their prompts or has one filled in, and ends them again. Arguments of prompts are texts.

  toolplane prompts                                                 the prompts of the servers configured here
  toolplane prompts get docs review file=README.md
  toolplane prompts --mcp-config servers.json                       of the servers of a file, and no others

Exit codes:
  0    done
  1    a server could not be connected, or refused the prompt; stderr says why
  2    the command was not understood: no such prompt, or an argument is missing
  130  it was interrupted (129, 143: hung up, terminated)`;

const ACTIONS: Actions<'list' | 'get'> = {
  list: [0, 0, ''],
  get: [2, Number.POSITIVE_INFINITY, '<server> <prompt> [key=value…]'],
};

/** `toolplane prompts`: what servers would have a model asked. */
export function definePrompts(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [list | get <server> <prompt> [key=value…]]')
    .argument('[words...]', 'list, or get <server> <prompt> [key=value…]')
    .option('--json', 'print what the servers gave as one JSON document')
    .addHelpText('after', HELP)
    .action(async (words: string[], { json }: { json?: true }, command: Command) => {
      const action = actionWord(command, words, ACTIONS);
      const [, server = '', prompt = '', ...given] = words;
      const args = textArguments(command, given);
      const named = await namedServers(command, action === 'get' ? [server] : chosenNames(command));
      const request = { ...named, format: json ? ('json' as const) : ('text' as const) };
      const code = await startPrompts(
        action === 'get' ? { ...request, action, server, prompt, args } : { ...request, action },
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

function textArguments(command: Command, words: readonly string[]): Record<string, string> {
  const entries = words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) refuse(command, `${JSON.stringify(word)} is no key=value`);
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
}
