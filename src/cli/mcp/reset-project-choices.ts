import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startReset } from './approve/reset.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Forgets what you approved, rejected and trusted in this repository, and in the directories below it; without a
repository, in this directory. What it brings along waits for approval again.

Files:
  ~/.toolplane/choices.json                what you decided

Exit codes:
  0  done
  1  the file cannot be written
  2  the command was not understood`;

/** `toolplane mcp reset-project-choices`: everything in the project waits again. */
export function defineResetProjectChoices(command: Command): void {
  addJsonFlag(command)
    .addHelpText('after', HELP)
    .action(async (values: { json?: true }) => {
      const code = await startReset(formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
