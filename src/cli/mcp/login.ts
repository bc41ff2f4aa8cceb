import type { Command } from 'commander';
import { shellQuote } from '../../base/text/display-text.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { CommandFailed, ExitCode } from '../output/failure.ts';
import { inSession } from './session.ts';

const HELP = `
OAuth is not supported yet. Set a header with a token, with -H 'Authorization: Bearer \${secret:NAME}' of
toolplane mcp add, or "headersHelper" in the entry of the server: a command that prints headers as JSON.

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

/** Fails with exit code 1 until OAuth is supported. */
export function startLogin(
  word: 'login' | 'logout',
  name: string,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const works = `-H 'Authorization: Bearer \${secret:NAME}' of toolplane mcp add, or "headersHelper" in its entry`;
  const now =
    word === 'login'
      ? `set a token for ${shellQuote(name)} with ${works}`
      : 'remove a token with toolplane secret remove NAME';
  return inSession(format, env, () =>
    Promise.reject(new CommandFailed(`${word} is not supported yet; ${now}`)),
  );
}
