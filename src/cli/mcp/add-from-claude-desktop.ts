import { type Command, Option } from 'commander';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { ExitCode } from '../exit-code.ts';
import { startImport } from './import/start.ts';
import { scopeName } from './one-of.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
The same as toolplane mcp import claude-desktop, which can do more.`;

/** `toolplane mcp add-from-claude-desktop`, as other programs call one form of `import`. */
export function defineAddFromClaudeDesktop(command: Command): void {
  addJsonFlag(command)
    .addOption(
      new Option('-s, --scope <scope>', 'where they are written: local, project or user')
        .argParser(scopeName)
        .default('user'),
    )
    .option('--all', 'take all new ones without a question')
    .addHelpText('after', HELP)
    .action(async (values: { json?: true; all?: true; scope: WritableScope }) => {
      const request = {
        sources: ['claude-desktop'],
        scope: values.scope,
        asks: values.all ? 'all' : 'person',
        force: false,
        secrets: false,
        projectFiles: false,
      } as const;
      const code = await startImport(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
