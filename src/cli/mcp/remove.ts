import { type Command, Option } from 'commander';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { ExitCode } from '../exit-code.ts';
import { scopeName } from './one-of.ts';
import { startRemove } from './remove/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Takes the entry out of its file and says what counts under that name from now on. Comments and everything else in the
file stay. If several scopes have one of the name, --scope says which is meant.

  toolplane mcp remove github
  toolplane mcp remove github --scope user

Exit codes:
  0  it is removed
  1  the file cannot be written
  2  there is no such server, or it is not clear which one is meant`;

type Values = { json?: true; scope?: WritableScope };

/** `toolplane mcp remove`, and its alias `rm`. */
export function defineRemove(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .addOption(new Option('-s, --scope <scope>', 'which one: local, project or user').argParser(scopeName))
    .addHelpText('after', HELP)
    .action(async (name: string, values: Values) => {
      const { scope } = values;
      const code = await startRemove({ name, ...(scope && { scope }) }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
