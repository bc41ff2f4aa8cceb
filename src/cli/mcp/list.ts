import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startList } from './list/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Every server that is configured, its scope, where it stands, and how it is:

  ✓  connected, with how many tools it has
  ✗  it failed, is broken, or the policy of the machine blocks it; the reason stands beside it
  ⏸  it waits for approval, is rejected, or is disabled; what to run stands beside it

Those that are ready are started, asked for their tools, and ended again, all at once. One that waits for approval is
never started. What is wrong with files is told on stderr, one line each.

  toolplane mcp list
  toolplane mcp list --no-connect          start nothing
  toolplane mcp list --json | jq '.servers[] | select(.state == "failed")'

Exit codes:
  0    all is well; what waits for a person is
  1    a server failed, is broken or blocked, or a file cannot be used
  2    the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp list`, and its alias `ls`. */
export function defineList(command: Command): void {
  addJsonFlag(command)
    .option('--no-connect', 'start nothing: tell only what is configured')
    .addHelpText('after', HELP)
    .action(async (values: Values) => {
      const code = await startList({ connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
