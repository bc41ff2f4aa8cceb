import { type Command, Option } from 'commander';
import { several } from './one-of.ts';
import { startServe } from './serve/start.ts';

const HELP = `
Any MCP client can use these tools, without an agent of ours and without a model:

  toolplane mcp serve                                Read, Glob and Grep, below the working directory
  toolplane mcp serve --cwd ~/code/shop              the same, below another directory
  toolplane mcp serve --allow-writes                 Edit and Write as well
  toolplane mcp serve --allow-shell --tools Bash     commands, and nothing else

In the file of a client:

  { "mcpServers": { "files": { "command": "toolplane", "args": ["mcp", "serve", "--cwd", "/home/me/shop"] } } }

What is opened, and what stays shut:
  by default       files below the directory can be read. What lies elsewhere is refused, also if a link leads there.
  --allow-writes   files below the directory can be created and changed, except those that decide what runs later:
                   .git, .claude, .toolplane, .mcp.json, .vscode, .idea, .husky.
  --allow-shell    any command can be run, as you. A command is not kept to the directory, and it can read, write and
                   send whatever you can.

Nobody is asked before a call: that is for the client to do. Without --cwd, a server that is started in the root of the
file system or in your home is refused, since clients start servers there without anybody meaning it.

Messages are one JSON-RPC object a line on stdin and stdout; it ends when its input does.

Exit codes:
  0  the client has gone
  1  it failed; the reason is on stderr
  2  the command was not understood, or there is no such tool or directory`;

type Values = { tools?: string[]; cwd?: string; readOnly?: true; allowWrites?: true; allowShell?: true };

/** `toolplane mcp serve`: the built-in tools as a stdio MCP server, shut as far as flags do not open it. */
export function defineMcpServe(command: Command): void {
  command
    .addOption(
      new Option('--tools <names>', 'only these, separated by commas; may be repeated').argParser(several),
    )
    .option('--cwd <directory>', 'where paths start, and what files are kept to')
    .addOption(
      new Option('--read-only', 'only tools that read; this is the default').conflicts([
        'allowWrites',
        'allowShell',
      ]),
    )
    .option('--allow-writes', 'Edit and Write too, below the directory')
    .option('--allow-shell', 'Bash too, which is kept to nothing')
    .addHelpText('after', HELP)
    .action(async ({ tools, cwd, allowWrites, allowShell }: Values) => {
      await startServe(
        {
          ...(tools && { tools: tools.flatMap((it) => it.split(',')).map((it) => it.trim()) }),
          ...(cwd !== undefined && { cwd }),
          opened: [
            ...(allowWrites ? (['writes'] as const) : []),
            ...(allowShell ? (['shell'] as const) : []),
          ],
        },
        process.env,
      );
    });
}
