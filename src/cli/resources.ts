import type { Command } from 'commander';
import { ExitCode } from './exit-code.ts';
import { type Actions, actionWord } from './host/action-word.ts';
import { namedServers } from './host/named-servers.ts';
import { addServerChoice, addServerFlags, chosenNames } from './host/server-flags.ts';
import { startResources } from './resources/start.ts';

const HELP = `
Connects the servers, lists or reads what they let others read, and ends them again.

  toolplane resources                                               the resources of the servers configured here
  toolplane resources templates                                     addresses with parts to fill in
  toolplane resources read docs docs://start
  toolplane resources --mcp-config servers.json                     of the servers of a file, and no others

Text is printed as it is; of other data a line tells type and size, and --output keeps it.

Exit codes:
  0    done
  1    a server could not be connected, or the resource not be read; stderr says why
  2    the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

const ACTIONS: Actions<'list' | 'templates' | 'read'> = {
  list: [0, 0, ''],
  templates: [0, 0, ''],
  read: [2, 2, '<server> <uri>'],
};

type Values = { json?: true; output?: string };

/** `toolplane resources`: what servers let others read. */
export function defineResources(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [list | templates | read <server> <uri>]')
    .argument('[words...]', 'list, templates, or read <server> <uri>')
    .option('--json', 'print what the servers gave as one JSON document')
    .option('-o, --output <directory>', 'keep what is read and is no text in files there')
    .addHelpText('after', HELP)
    .action(async (words: string[], { json, output }: Values, command: Command) => {
      const action = actionWord(command, words, ACTIONS);
      const [, server = '', uri = ''] = words;
      const named = await namedServers(command, action === 'read' ? [server] : chosenNames(command));
      const request = {
        ...named,
        format: json ? ('json' as const) : ('text' as const),
        ...(output !== undefined && { directory: output }),
      };
      const code = await startResources(
        action === 'read' ? { ...request, action, server, uri } : { ...request, action },
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}
