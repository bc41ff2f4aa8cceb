import { type Command, Option } from 'commander';
import { callTarget } from './call/call-target.ts';
import { readInput } from './call/read-input.ts';
import { startCall } from './call/start.ts';
import { ExitCode } from './exit-code.ts';
import { namedServers } from './host/named-servers.ts';
import { addServerFlags, milliseconds, refuse } from './host/server-flags.ts';

const HELP = `
Connects that one server, calls the tool, and prints what it gave. Arguments are one JSON object or words:

  key=value     typed by the tool's schema: 5 is a number where it wants one
  key=a key=b   a list, where it wants one; so is key='["a","b"]'
  a.b=1         a member of an object
  key:=json     exactly this JSON
  key=@file     what the file holds
  -             a JSON object from stdin; words after it come on top

  toolplane call files read_text_file path=README.md
  toolplane call mcp__files__read_text_file path=README.md      the same, by the name that models know
  toolplane call github create_issue '{"title": "It breaks"}' labels=bug labels=urgent
  toolplane call --mcp-config servers.json files read_text_file path=README.md head=5
  jq '{query: .text}' note.json | toolplane call --url http://127.0.0.1:3000/mcp server search -

What the tool's schema is against is told and not sent, a name it does not declare too; --unchecked sends it anyway.

Text is printed as it is; of images, audio and other data a line tells type and size, and --output keeps them. What a
tool says of its failure goes to stderr. Ctrl-C cancels the call. If the server asks for input (elicitation), you are
asked on the terminal; without a terminal the request is declined and reported on stderr.

Exit codes:
  0    the tool gave a result
  1    it failed, or its server did; the reason is on stderr
  2    the command was not understood: no such server, tool or argument, one that is missing or of another type
  130  it was interrupted (129, 143: hung up, terminated)`;

type Values = { json?: true; output?: string; timeout?: number; unchecked?: true };

/** `toolplane call`: one tool, once. */
export function defineCall(command: Command): void {
  addServerFlags(command)
    .usage('[options] <server> <tool> [arguments...]')
    .argument(
      '<server>',
      'its name in the configuration; or the tool’s full name, mcp__<server>__<tool>, alone',
    )
    .argument('[tool]', 'the server’s own name of it, or the one models know')
    .argument('[arguments...]', 'a JSON object, key=value, key:=json, key=@file; - is stdin')
    .option('--json', 'print the result as the server gave it')
    .option('-o, --output <directory>', 'keep images, audio and other data in files there')
    .option('--unchecked', 'send the arguments also if the tool’s schema is against them')
    .addOption(new Option('--timeout <ms>', 'cancel the call after so long').argParser(milliseconds))
    .addHelpText('after', HELP)
    .action(
      async (first: string, second: string | undefined, more: string[], values: Values, command: Command) => {
        const given = [first, ...(second === undefined ? [] : [second]), ...more];
        let target = callTarget(given, []);
        const named = await namedServers(command, (known) => {
          target = callTarget(given, known);
          return [target.server];
        });
        const { server, tool, words } = target;
        if (tool === undefined) return refuse(command, "missing required argument 'tool'");
        const input = await readInput(words, process.stdin);
        if (input.faults.length > 0) refuse(command, input.faults.join('; '));
        const request = {
          ...named,
          server,
          tool,
          input,
          format: values.json ? 'json' : 'text',
          checks: values.unchecked ? 'none' : 'schema',
          ...(values.output !== undefined && { directory: values.output }),
          ...(values.timeout !== undefined && { timeoutMs: values.timeout }),
        } as const;
        const code = await startCall(request, process.env);
        if (code !== 0) throw new ExitCode(code);
      },
    );
}
