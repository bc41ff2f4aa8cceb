import type { Command } from 'commander';
import { ExitCode } from '../exit-code.ts';
import { formatOf, subCommand } from './sub-command.ts';

const HELP = `
Signing in comes with a later version. What works now: a header with a token, -H 'Authorization: Bearer \${secret:NAME}';
"headersHelper" in the entry, a command that prints the headers as JSON.

Exit codes:
  1  always`;

/** `toolplane mcp login` and `logout`, which say what to do until there is signing in. */
export function addLogin(mcp: Command): void {
  for (const [word, description] of WORDS) {
    subCommand(mcp, word)
      .description(description)
      .argument('<name>', 'the server')
      .addHelpText('after', HELP)
      .action(async (name: string, values: { json?: true }) => {
        const { startLogin } = await import('./login/start.ts');
        const code = await startLogin(word, name, formatOf(values), process.env);
        if (code !== 0) throw new ExitCode(code);
      });
  }
}

const WORDS = [
  ['login', 'Sign in to a server (comes with a later version).'],
  ['logout', 'Sign out of a server (comes with a later version).'],
] as const;
