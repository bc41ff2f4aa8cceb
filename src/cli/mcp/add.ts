import { Command, Option } from 'commander';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { ExitCode } from '../exit-code.ts';
import { milliseconds } from '../host/server-flags.ts';
import { startAdd } from './add/start.ts';
import { type Transport, transportName } from './add/transport.ts';
import { repeatVariables } from './add/variables.ts';
import { scopeName, several } from './one-of.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
An address is reached by http, or by sse if it speaks nothing else (ws:// by ws); -t keeps to one of them. Anything else
is a command that is run. Flags of that command would be taken for ours: write -- before it.

  toolplane mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolplane mcp add github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  toolplane mcp add docs https://docs.example.com/mcp -H 'Authorization: Bearer \${secret:DOCS_TOKEN}'
  toolplane mcp add -s project -t sse board https://board.example.com/sse

Files:
  -s local     .toolplane/settings.local.json   this project, for you alone
  -s project   .mcp.json                        this project, shared with everybody who works on it
  -s user      ~/.toolplane/settings.json       all your projects

A server of -s user runs in a directory of its own, ~/.toolplane/servers/<name>, and not in the project: write
\${TOOLPLANE_PROJECT_DIR} where it is to have the project's path.

A value that looks like a secret is written as you gave it, with a warning; into the file of a project only with --force.
Keep it out of files: toolplane secret set NAME, and \${secret:NAME} in its place; or \${VAR} for a variable.

Exit codes:
  0  it is written
  1  there is one of that name, or the file cannot be written
  2  the command was not understood`;

const AFTER_UNKNOWN =
  '(flags of the command itself come after --: toolplane mcp add <name> -- npx -y some-server)';

type Values = {
  json?: true;
  scope: WritableScope;
  transport?: Transport;
  env?: string[];
  header?: string[];
  cwd?: string;
  timeout?: number;
  trust?: true;
  onDemand?: true;
  force?: true;
};

/** `toolplane mcp add`: one more server, by a command or an address. */
export function defineAdd(command: Command): void {
  const add = addJsonFlag(command);
  add.parseOptions = (words) => Command.prototype.parseOptions.call(add, repeatVariables(words));
  add.error = (message, options) => {
    if (options?.code === 'commander.unknownOption') add.showHelpAfterError(AFTER_UNKNOWN);
    return Command.prototype.error.call(add, message, options);
  };
  add
    .usage(
      '[options] <name> <commandOrUrl> [args...]\n       toolplane mcp add [options] <name> -- <command> [args...]',
    )
    .argument('<name>', 'what it is called from now on')
    .argument('<commandOrUrl>', 'the command that is run, or the address')
    .argument('[args...]', 'arguments of the command')
    .addOption(
      new Option('-s, --scope <scope>', 'where it is written: local, project or user')
        .argParser(scopeName)
        .default('local'),
    )
    .addOption(
      new Option('-t, --transport <transport>', 'how it is reached: stdio, http, sse or ws').argParser(
        transportName,
      ),
    )
    .addOption(
      new Option(
        '-e, --env <KEY=value>',
        'a variable for the command; more may follow, or be given by one more -e',
      ).argParser(several),
    )
    .addOption(
      new Option(
        '-H, --header <header>',
        'a header for the address, as "Name: value"; may be repeated',
      ).argParser(several),
    )
    .option(
      '--cwd <directory>',
      'where the command runs; by default the project, with -s user a directory of its own',
    )
    .addOption(new Option('--timeout <ms>', 'the longest one call may take').argParser(milliseconds))
    .option('--trust', 'believe what it says of its tools; not in scope project')
    .option('--on-demand', 'start it only once it is asked for')
    .option('--force', 'replace one of that name; write secrets into the file of a project')
    .addHelpText('after', HELP)
    .action(async (name: string, target: string, args: string[], values: Values) => {
      const { scope, transport, env = [], header = [], cwd, timeout, trust, onDemand } = values;
      const code = await startAdd(
        {
          name,
          scope,
          force: values.force === true,
          given: {
            target,
            args,
            env,
            headers: header,
            ...(transport !== undefined && { transport }),
            ...(cwd !== undefined && { cwd }),
            ...(timeout !== undefined && { timeout }),
            ...(trust && { trust }),
            ...(onDemand && { onDemand }),
          },
        },
        formatOf(values),
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}
