import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { startLogin } from './login/start.ts';
import { addJsonFlag, formatOf } from './sub-command.ts';

const HELP = `
Signing in comes with a later version. What works now: a header with a token, -H 'Authorization: Bearer \${secret:NAME}';
"headersHelper" in the entry, a command that prints the headers as JSON.

Exit codes:
  1  always`;

/** `toolplane mcp login` and `logout`: both fail until OAuth is supported. */
export function defineLogin(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .addHelpText('after', HELP)
    .action(async (name: string, values: { json?: true }) => {
      const action = command.name() === 'login' ? 'login' : 'logout';
      const code = await startLogin(action, name, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
