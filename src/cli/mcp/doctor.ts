import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startDoctor } from './doctor/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
  toolplane mcp doctor                 every file and every server
  toolplane mcp doctor github files    every file and these servers

Files: whether each can be read, and whether secrets stand in it that others can see. Servers: whether the command is on
PATH, the address answers, its certificate is good, it takes our credentials, shakes hands and lists sound tools; what
their definitions cost, and which changed since they were accepted. Servers that wait for approval are never started.
Below what is not well stands what to do, unless the line says so itself.

Exit codes:
  0    nothing is broken; there may be warnings
  1    something is broken
  2    there is no such server, or the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

/** `toolplane mcp doctor`: looks at everything that is configured, and tells the fix of what is not well. */
export function defineDoctor(command: Command): void {
  addJsonFlag(command)
    .argument('[names...]', 'only these servers')
    .addHelpText('after', HELP)
    .action(async (names: string[], values: { json?: true }) => {
      const code = await startDoctor({ names: [...new Set(names)], format: formatOf(values) }, process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
