import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startGet } from './get/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Where the server is defined, the place that counts first; its entry as written, with values that may be secret hidden;
whether it may be started; and, if it may, whether it answers and how many tools it has.

  toolplane mcp get github
  toolplane mcp get github --no-connect    start nothing

A server that waits for approval is shown and never started. toolplane explain server <name> tells the whole derivation.

Exit codes:
  0    it is there, and connected if it was dialled; or it waits for a person
  1    it failed, is broken, or is blocked
  2    there is no such server, or the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp get`: one server, wherever it is defined. */
export function defineGet(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .option('--no-connect', 'start nothing: tell only what is configured')
    .addHelpText('after', HELP)
    .action(async (name: string, values: Values) => {
      const code = await startGet({ name, connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
