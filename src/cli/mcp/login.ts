import type { Command } from 'commander';
import { shellQuote } from '../../base/text/display-text.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { CommandFailed, ExitCode } from '../output/failure.ts';
import { inSession } from './session.ts';

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

/** `toolplane mcp login` and `logout`; gives the exit code, which is 1 until there is signing in. */
export function startLogin(
  word: 'login' | 'logout',
  name: string,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const works = `-H 'Authorization: Bearer \${secret:NAME}', or "headersHelper" in its entry`;
  const now =
    word === 'login'
      ? `give ${shellQuote(name)} a token by ${works}`
      : 'toolplane secret remove NAME takes a token away';
  return inSession(format, env, () =>
    Promise.reject(new CommandFailed(`${word} comes with a later version of Toolplane; until then ${now}`)),
  );
}
