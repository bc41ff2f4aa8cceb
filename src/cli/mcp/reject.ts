import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startApprove } from './approve/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
A rejected server is not started and takes its name from nobody; of a rejected settings file only what forbids counts.
If it is changed, you are asked again. In a terminal, and without names, you are asked about each, as toolplane mcp
approve does.

  toolplane mcp reject github
  toolplane mcp reject --settings          the settings files of the project, also those you approved
  toolplane mcp reject --all               every server and settings file that waits

Files:
  ~/.toolplane/choices.json                what you decided; toolplane mcp reset-project-choices forgets it

Exit codes:
  0    done, or nothing waits
  1    it failed
  2    the command was not understood; nobody is there to be asked; there is no such server
  130  it was interrupted; nothing was decided (129, 143: hung up, terminated)`;

/** `toolplane mcp reject`: what a project brings along may not count. */
export function defineReject(command: Command): void {
  addJsonFlag(command)
    .argument('[name...]', 'the servers; without any, you are asked about each')
    .option('--all', 'every server and settings file that waits')
    .option('--settings', 'the settings files of the project')
    .addHelpText('after', HELP)
    .action(async (names: string[], values: { json?: true; all?: true; settings?: true }) => {
      const request = {
        names,
        choice: 'rejected',
        all: values.all === true,
        settings: values.settings === true,
        trust: false,
      } as const;
      const code = await startApprove(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
