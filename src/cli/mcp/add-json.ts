import { type Command, Option } from 'commander';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { ExitCode } from '../exit-code.ts';
import { startAddJson } from './add/start.ts';
import { scopeName } from './one-of.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
The JSON is the entry itself, what stands behind a name in "mcpServers"; comments and trailing commas may be in it. A
whole {"mcpServers": {…}} with one server in it is understood too.

  toolplane mcp add-json files '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}'
  toolplane mcp add-json docs '{"type": "http", "url": "https://docs.example.com/mcp"}' -s user
  jq .mcpServers.github other.json | toolplane mcp add-json github -

A server of type "sdk" lives in a program and is refused. Secrets are treated as toolplane mcp add does.

Exit codes:
  0  it is written
  1  there is one of that name, or the file cannot be written
  2  the command was not understood, or the entry cannot be used`;

type Values = { json?: true; scope: WritableScope; force?: true };

/** `toolplane mcp add-json`: one more server, as its entry in a file. */
export function defineAddJson(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'what it is called from now on')
    .argument('<json>', 'its entry; - is stdin')
    .addOption(
      new Option('-s, --scope <scope>', 'where it is written: local, project or user')
        .argParser(scopeName)
        .default('local'),
    )
    .option('--force', 'replace one of that name; write secrets into the file of a project')
    .addHelpText('after', HELP)
    .action(async (name: string, json: string, values: Values) => {
      const request = { name, json, scope: values.scope, force: values.force === true };
      const code = await startAddJson(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
