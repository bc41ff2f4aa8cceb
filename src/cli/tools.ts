import { type Command, InvalidArgumentError, Option } from 'commander';
import { ExitCode } from './exit-code.ts';
import { type Actions, actionWord } from './host/action-word.ts';
import { namedServers } from './host/named-servers.ts';
import { addServerChoice, addServerFlags, chosenNames, refuse } from './host/server-flags.ts';
import { startChanges } from './tools/changes.ts';
import { startTools } from './tools/start.ts';

const HELP = `
Connects the servers, lists what they offer, and ends them again. Beside each tool stands what its server claims of it.

  toolplane tools                                                   all tools of the servers configured here
  toolplane tools -s github --cost                                  what its definitions cost a model, in tokens
  toolplane tools --search "send a mail"                            the tools for a need, best first
  toolplane tools --mcp-config servers.json                         of the servers of a file, and no others
  toolplane tools --stdio "npx -y some-server" --json               one server without a file, for programs

A tool whose definition changed since it was first seen is asked about before every call, until somebody accepts it.
To look is not to accept, but what a look finds changed can be accepted from then on:

  toolplane tools --changed                                         what changed, and how
  toolplane tools accept github create_issue                        this tool is well as it is now
  toolplane tools accept github                                     so are all of this server

--search understands what a model's search does: server:github, +word, readonly:true, destructive:false and
select:<name>,<name>.

Exit codes:
  0    every server was there
  1    one could not be connected; the others are listed, and stderr says why
  2    the command was not understood, or there is nothing of that name to accept
  130  it was interrupted (129, 143: hung up, terminated)`;

const ACTIONS: Actions<'list' | 'accept'> = {
  list: [0, 0, ''],
  accept: [1, 2, '<server> [tool]'],
};

type Values = { json?: true; cost?: true; changed?: true; search?: string; limit: number };

/** `toolplane tools`: what servers offer, what it costs, which tool is for what, and what changed. */
export function defineTools(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [accept <server> [tool]]')
    .argument('[words...]', 'nothing, or accept <server> [tool]')
    .addOption(
      new Option('--cost', 'tokens of every definition, the dearest first').conflicts(['search', 'changed']),
    )
    .addOption(
      new Option('--search <text>', 'the tools for a need, best first').argParser(words).conflicts('changed'),
    )
    .addOption(new Option('--limit <n>', 'how many --search gives').argParser(count).default(10))
    .option('--changed', 'definitions that changed since they were accepted; connects nothing')
    .option('--json', 'one JSON document with everything')
    .addHelpText('after', HELP)
    .action(async (words: string[], values: Values, command: Command) => {
      const action = actionWord(command, words, ACTIONS);
      refuseIdle(command, action, values);
      const code =
        action === 'accept' || values.changed
          ? await changes(words, values, command)
          : await list(values, command);
      if (code !== 0) throw new ExitCode(code);
    });
}

/** A flag that would change nothing was meant to change something. */
function refuseIdle(command: Command, action: 'list' | 'accept', { search }: Values): void {
  if (search === undefined && command.getOptionValueSource('limit') === 'cli') {
    refuse(command, '--limit says how many --search gives, and there is no --search');
  }
  const idle = (['cost', 'search', 'changed', 'server'] as const).filter(
    (name) => command.getOptionValueSource(name) === 'cli',
  );
  if (action === 'accept' && idle.length > 0) {
    refuse(command, `tools accept takes <server> [tool] and no --${idle.join(' or --')}`);
  }
}

async function list({ json, cost, search, limit }: Values, command: Command): Promise<number> {
  const named = await namedServers(command, chosenNames(command));
  const format = json ? 'json' : cost ? 'cost' : 'list';
  return startTools({ ...named, format, limit, ...(search !== undefined && { search }) }, process.env);
}

async function changes(
  [, server, tool]: readonly string[],
  { json }: Values,
  command: Command,
): Promise<number> {
  const format = json ? 'json' : 'text';
  const servers = chosenNames(command);
  if (server === undefined) {
    return startChanges({ format, action: 'changed', ...(servers && { servers }) }, process.env);
  }
  const named = { server, ...(tool !== undefined && { tool }) };
  return startChanges({ format, action: 'accept', ...named }, process.env);
}

function count(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('It takes a whole number, 1 or more.');
  return Number(value);
}

function words(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It takes what the tool is to do.');
  return value;
}
