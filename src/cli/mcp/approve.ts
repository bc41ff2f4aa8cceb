import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startApprove } from './approve/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
What a project brings along (servers in .mcp.json and .toolplane/settings.local.json, and what its settings files would
allow, run or set) counts only once you have approved it on this machine. In a terminal, and without names, each one is
shown as it is written and asked about:

  y  yes, it counts; if it is changed, you are asked again
  n  no, it is rejected: a server is not started, of a settings file only what forbids counts; if it is changed, you
     are asked again
  s  skip: decide another time
  t  trust the whole repository: every server, hook, allow rule and variable in it, now and after every pull, will
     count without a question, as long as it is this repository (known by a token in .git/toolplane-trust)
  q  stop here; what you decided so far counts

Ctrl-C leaves everything as it was. Without a terminal nothing is approved unless it is named:

  toolplane mcp approve                     look, and decide
  toolplane mcp approve github docs         these servers; of a name in several files, only the highest
                                            entry that waits
  toolplane mcp approve --settings          the settings files of the project, also those you rejected
  toolplane mcp approve --all               every server and settings file that waits
  toolplane mcp approve --trust-repository  everything in the repository, now and later

Files:
  ~/.toolplane/choices.json                 what you decided; toolplane mcp reset-project-choices forgets it

Exit codes:
  0    done, or nothing waits
  1    it failed
  2    the command was not understood; nobody is there to be asked; there is no such server
  130  it was interrupted; nothing was decided (129, 143: hung up, terminated)`;

type Values = { json?: true; all?: true; settings?: true; trustRepository?: true };

/** `toolplane mcp approve`: what a project brings along may count. */
export function defineApprove(command: Command): void {
  addJsonFlag(command)
    .argument('[name...]', 'the servers; without any, you are asked about each')
    .option('--all', 'every server and settings file that waits')
    .option('--settings', 'the settings files of the project')
    .option('--trust-repository', 'everything in the repository, now and after every pull')
    .addHelpText('after', HELP)
    .action(async (names: string[], values: Values) => {
      const { all, settings, trustRepository } = values;
      const request = {
        names,
        choice: 'approved',
        all: all === true,
        settings: settings === true,
        trust: trustRepository === true,
      } as const;
      const code = await startApprove(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
