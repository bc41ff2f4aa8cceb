import { isRecord } from '../../base/is-record.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { MissingVariable } from '../../mcp/transports/stdio/server-environment.ts';
import type { Configuration } from '../configuration.ts';
import { workingDirectory } from '../expand/server-directory.ts';
import type { ConfiguredServer } from '../model.ts';
import { maskEntry } from './mask-entry.ts';
import { standOf, standText } from './stand.ts';

/** What to do about a server that was dialled and did not come, by the kind of failure. */
export function connectionStep(
  server: ConfiguredServer,
  { code, missingVariable }: ConnectionFailure,
  configuration: Pick<Configuration, 'world'>,
): string {
  const { name, written } = server;
  const place = standText(standOf(written));
  if (missingVariable !== undefined) return variableStep(missingVariable, place);
  switch (code) {
    case 'unauthorized':
      return `set "headers": { "Authorization": "Bearer \${TOKEN}" } at ${place} and export TOKEN=…, or check what they hold`;
    case 'spawn-failed':
      return `if it needs variables of your shell, add -e NAME='\${NAME}' or "inheritEnv": ["NAME"] at ${place}: servers get only a limited environment; to run it with that: ${commandByHand(server, configuration)}`;
    case 'timeout':
      return `if it is only slow: set serverSettings.${name}.connectTimeoutMs (milliseconds) in your settings.json`;
    case 'unreachable':
      return `check "url", "type" and "headers" at ${place}, and that the server runs`;
    default:
      return `mend it at ${place}`;
  }
}

/** What the failed attempt to connect left behind. */
type ConnectionFailure = {
  readonly code?: string | undefined;
  readonly missingVariable?: MissingVariable | undefined;
};

/** The error itself explains why the variable is missing; the step is the edit of the entry. */
function variableStep({ name, isWithheld }: MissingVariable, place: string): string {
  const value = isWithheld ? `\${${name}}` : '…';
  const flag = isWithheld ? `-e ${name}='${value}'` : `-e ${name}=${value}`;
  return `add "env": { "${name}": "${value}" } at ${place}, which is ${flag} of toolplane mcp add`;
}

/** The command as it is typed in a shell to run the server where and with what the host runs it; secrets are masked. */
function commandByHand(server: ConfiguredServer, configuration: Pick<Configuration, 'world'>): string {
  const { command, args, env, inheritEnv } = maskEntry(server.written.raw);
  const directory = otherDirectory(server, configuration);
  const variables = [
    'HOME="$HOME" PATH="$PATH"',
    ...(Array.isArray(inheritEnv) ? inheritEnv : []).map((name) => `${name}="$${name}"`),
    ...Object.entries(isRecord(env) ? env : {}).map(
      ([name, value]) => `${shellWord(name)}=${quoted(String(value))}`,
    ),
  ];
  const words = [command, ...(Array.isArray(args) ? args : [])].map((word) =>
    quoted(String(word).replaceAll('${TOOLPLANE_PROJECT_DIR}', configuration.world.cwd)),
  );
  const change = directory === undefined ? '' : `cd ${shellWord(directory)} && `;
  return `${change}env -i ${[...variables, ...words].join(' ')}`;
}

/** Where the server runs, if that is not the directory the person works in. */
function otherDirectory(
  { written, entry }: ConfiguredServer,
  { world }: Pick<Configuration, 'world'>,
): string | undefined {
  // A `cwd` with a variable is known only once the variable is substituted.
  if (entry === undefined || ('cwd' in entry && entry.cwd?.includes('${'))) return undefined;
  const directory = workingDirectory(written, entry, { world });
  return directory === world.cwd ? undefined : directory;
}

/** A variable is one for a shell, too, and a flag is no name of a stranger's. */
function quoted(word: string): string {
  if (/^--?[\w-]+$/.test(word)) return word;
  return /^\$\{\w+\}$/.test(word) ? `"${word}"` : shellWord(word);
}
