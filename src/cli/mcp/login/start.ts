import { shellWord } from '../../../base/text/display-text.ts';
import { Failed } from '../../host/failure.ts';
import { inSession } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';

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
      ? `give ${shellWord(name)} a token by ${works}`
      : 'toolplane secret remove NAME takes a token away';
  return inSession(format, env, () =>
    Promise.reject(new Failed(`${word} comes with a later version of Toolplane; until then ${now}`)),
  );
}
