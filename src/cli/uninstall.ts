import { type Command, Option } from 'commander';
import { ExitCode } from './exit-code.ts';
import { startUninstall } from './uninstall/start.ts';

const HELP = `
Lists all that Toolplane ever wrote and is still there, and removes it once you agree:

  settings, secrets, choices, conversations, pins and cache in ~/.toolplane (or in TOOLPLANE_HOME)
  files in projects that Toolplane made, if nothing else has come into them
  servers, rules and modes that it added to files of projects, if they are still as it wrote them

What was changed since, and what is not Toolplane's, is named and stays.

  toolplane uninstall                  look, and decide
  toolplane uninstall --dry-run        look only
  toolplane uninstall --yes            remove everything without a question
  toolplane uninstall --keep-settings  only conversations, pins and cache; what you configured stays

Exit codes:
  0  done, or there is nothing to remove
  1  nothing was removed, since nobody said yes, or something could not be; stderr says why
  2  the command was not understood`;

type Values = { yes?: true; dryRun?: true; json?: true; keepSettings?: true };

/** `toolplane uninstall`: everything we ever wrote, and its end. */
export function defineUninstall(command: Command): void {
  command
    .addOption(new Option('--yes', 'remove it without a question').conflicts('dryRun'))
    .option('--dry-run', 'list it and remove nothing')
    .option('--keep-settings', 'keep settings, secrets, choices and what was written into projects')
    .option('--json', 'one JSON document with everything; nothing is asked')
    .addHelpText('after', HELP)
    .action(async ({ yes, dryRun, json, keepSettings }: Values) => {
      const request = {
        format: json ? 'json' : 'text',
        mode: dryRun ? 'dry-run' : yes ? 'yes' : 'ask',
        keep: keepSettings ? 'settings' : 'nothing',
      } as const;
      const code = await startUninstall(request, process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
