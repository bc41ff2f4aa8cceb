import { type Command, Option } from 'commander';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { ExitCode } from '../exit-code.ts';
import { startImport } from './import/start.ts';
import { scopeName } from './one-of.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Reads the files of other programs, shows which servers they have, and takes over those you choose. The files of others
are never changed, and nothing is started.

  toolplane mcp import                          what there is; in a terminal you are asked what to take
  toolplane mcp import cursor vscode            of these programs only
  toolplane mcp import --all                    take every new one without a question
  toolplane mcp import --all --dry-run          only show what that would write
  toolplane mcp import --all --secrets          keep credentials out of the file: \${secret:NAME} in their place

Sources:
  claude-code       ~/.claude.json: yours, and those of this directory
  claude-desktop    claude_desktop_config.json
  cursor            ~/.cursor/mcp.json, .cursor/mcp.json
  vscode            mcp.json and settings.json of the user, .vscode/mcp.json, .vscode/settings.json
  codex             ~/.codex/config.toml, .codex/config.toml
  gemini            ~/.gemini/settings.json, .gemini/settings.json
  windsurf          ~/.codeium/windsurf/mcp_config.json
  zed               settings.json of the user, .zed/settings.json

A server you already have is left alone: the same command or address counts as the same server; one that only this
project has is taken for scope user all the same. One of the same name that leads elsewhere is replaced only with
--force. What a file in the project names may come from anybody, so --all leaves it out unless --project-files is given.
What is turned off there is left out too. Whatever has no counterpart here is told in a line.

Exit codes:
  0    done, also if there was nothing to do
  1    a file or an entry cannot be used, a server of the same name was in the way, or it could not be written
  2    the command was not understood
  130  it was interrupted; nothing was written`;

type Values = {
  json?: true;
  scope: WritableScope;
  all?: true;
  dryRun?: true;
  force?: true;
  secrets?: true;
  projectFiles?: true;
};

/** `toolplane mcp import`: servers that other programs already have. */
export function defineImport(command: Command): void {
  addJsonFlag(command)
    .argument('[sources...]', 'which programs; by default all that are known')
    .addOption(
      new Option('-s, --scope <scope>', 'where they are written: local, project or user')
        .argParser(scopeName)
        .default('user'),
    )
    .option('--all', 'take all new ones without a question')
    .option('--dry-run', 'show what --all would do, and write nothing')
    .option('--force', 'replace those of the same name that differ')
    .option('--secrets', 'put credentials that are written out into the secret store')
    .option('--project-files', 'with --all: also what files in the project name')
    .addHelpText('after', HELP)
    .action(async (sources: string[], values: Values) => {
      const code = await startImport(
        {
          sources,
          scope: values.scope,
          asks: values.dryRun ? 'dry-run' : values.all ? 'all' : 'person',
          force: values.force === true,
          secrets: values.secrets === true,
          projectFiles: values.projectFiles === true,
        },
        formatOf(values),
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}
