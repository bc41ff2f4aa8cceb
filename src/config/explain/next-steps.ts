import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { isCredentialName } from '../../base/text/redact.ts';
import type { MissingVariable } from '../../mcp/transports/stdio/server-environment.ts';
import type { Configuration } from '../configuration.ts';
import { workingDirectory } from '../expand/server-directory.ts';
import { formatPosition } from '../files/diagnostics.ts';
import { isProgramServer } from '../merge/merge-servers.ts';
import type { ConfiguredServer, IgnoredServer } from '../model.ts';
import {
  type ConnectionRow,
  formatLocation,
  locationInSettings,
  locationOf,
  type ReferenceRow,
} from './explanation.ts';
import { maskEntry } from './mask-entry.ts';

/** What the next step depends on. */
type Situation = {
  readonly configuration: Pick<Configuration, 'context' | 'settingsSources'>;
  readonly server: ConfiguredServer;
  readonly missing: readonly ReferenceRow[];
  readonly connection: ConnectionRow | 'not asked';
};

/** What to do about a server: commands and edits as they are typed, the most likely first. */
export function nextSteps(situation: Situation): string[] {
  const { configuration, server, missing } = situation;
  const { name, written, verdict, lost } = server;
  const word = shellQuote(name);
  const place = formatLocation(locationOf(written));
  switch (verdict.kind) {
    case 'pending':
      return [
        `read it at ${place}; if you want it: toolplane mcp approve ${word}`,
        `if you do not: toolplane mcp reject ${word}`,
      ];
    case 'rejected':
      return [`if you changed your mind: toolplane mcp approve ${word}`];
    case 'blocked':
      return [`ask your administrator to change ${verdict.rule}, or use another server`];
    case 'disabled':
      if (written.off !== undefined) return [`remove "${written.off}" of the entry at ${place}`];
      return [
        `remove "disabled" of serverSettings.${name} in ${formatLocation(
          locationInSettings(configuration.settingsSources, verdict, ['serverSettings', name, 'disabled']),
        )}`,
      ];
    case 'broken':
      return [`fix it at ${formatPosition(verdict.fault.label, verdict.fault.position)}`];
    case 'ready':
      return [
        ...missing.flatMap((use) => fillIn(use, place)),
        ...unlessMissing(situation),
        ...uncovering(server),
        ...waiting(lost, word),
      ];
  }
}

function unlessMissing({ configuration, missing, server, connection }: Situation): string[] {
  if (missing.length > 0) return [];
  if (connection === 'not asked')
    return [`to see whether it answers: toolplane mcp doctor ${shellQuote(server.name)}`];
  return connection.state === 'connected' ? [] : [connectionStep(server, connection, configuration)];
}

/** What to do about a name that only entries have which do not count. */
export function stepsForIgnored(lost: readonly IgnoredServer[], managed = 'managed-mcp.json'): string[] {
  return [...new Set(lost.flatMap((it) => stepForLoss(it, managed)))];
}

function stepForLoss({ written, why, winner }: IgnoredServer, managed: string): string[] {
  const place = formatLocation(locationOf(written));
  switch (why) {
    case 'pending':
    case 'rejected':
      return waiting([{ written, why }], shellQuote(written.name));
    case 'duplicate':
      return winner ? [`use "${winner.name}", which connects to the same server`] : [];
    case 'same-name':
      return [`give one of the two another name, for example at ${place}`];
    case 'left-out':
      return ['run it without --strict-mcp-config, or name its scope with --setting-sources'];
    case 'managed':
      return [`ask your administrator to add it to ${managed}`];
    case 'shadowed':
      return winner && isProgramServer(winner) ? [`to have both, give it another name at ${place}`] : [];
  }
}

/** An entry of the project that would count if somebody approved it. */
function waiting(lost: readonly IgnoredServer[], word: string): string[] {
  return lost
    .filter(({ why }) => why === 'pending')
    .map(({ written }) => {
      const place = formatLocation(locationOf(written));
      return `to use the one in ${place} instead, read it, then: toolplane mcp approve ${word}`;
    });
}

/** The value itself belongs into the environment or into the store, never into the file. */
function fillIn({ reference, where }: ReferenceRow, place: string): string[] {
  const secret = /^\$\{secret:(.*)\}$/.exec(reference)?.[1];
  if (secret !== undefined) return [`set it: toolplane secret set ${shellQuote(secret)}`];
  const name = reference.slice(2, -1);
  const other = isCredentialName(name)
    ? `or keep it for good: toolplane secret set ${name}, and write "\${secret:${name}}" in ${where} at ${place}`
    : `or give it a default: "\${${name}:-…}" in ${where} at ${place}`;
  return [`set it in this shell: export ${name}=…`, other];
}

/** What a person who meant another entry would do. */
function uncovering({ name, written, lost }: ConfiguredServer): string[] {
  const below = lost.find(({ why }) => why === 'shadowed');
  if (below === undefined) return [];
  const other = formatLocation(locationOf(below.written));
  const isOurs = written.scope === 'local' || written.scope === 'project' || written.scope === 'user';
  return isOurs && below.written.scope !== written.scope
    ? [
        `to use the one in ${other} instead: toolplane mcp remove ${shellQuote(name)} --scope ${written.scope}`,
      ]
    : [];
}

/** What to do about a server that was dialled and did not come, by the kind of failure. */
export function connectionStep(
  server: ConfiguredServer,
  { code, missingVariable }: ConnectionFailure,
  configuration: Pick<Configuration, 'context'>,
): string {
  const { name, written } = server;
  const place = formatLocation(locationOf(written));
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
      return `fix it at ${place}`;
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
function commandByHand(server: ConfiguredServer, configuration: Pick<Configuration, 'context'>): string {
  const { command, args, env, inheritEnv } = maskEntry(server.written.raw);
  const directory = otherDirectory(server, configuration);
  const variables = [
    'HOME="$HOME" PATH="$PATH"',
    ...(Array.isArray(inheritEnv) ? inheritEnv : []).map((name) => `${name}="$${name}"`),
    ...Object.entries(isRecord(env) ? env : {}).map(
      ([name, value]) => `${shellQuote(name)}=${quoted(String(value))}`,
    ),
  ];
  const words = [command, ...(Array.isArray(args) ? args : [])].map((word) =>
    quoted(String(word).replaceAll('${TOOLPLANE_PROJECT_DIR}', configuration.context.cwd)),
  );
  const change = directory === undefined ? '' : `cd ${shellQuote(directory)} && `;
  return `${change}env -i ${[...variables, ...words].join(' ')}`;
}

/** Where the server runs, if that is not the directory the person works in. */
function otherDirectory(
  { written, entry }: ConfiguredServer,
  { context }: Pick<Configuration, 'context'>,
): string | undefined {
  // A `cwd` with a variable is known only once the variable is substituted.
  if (entry === undefined || ('cwd' in entry && entry.cwd?.includes('${'))) return undefined;
  const directory = workingDirectory(written, entry, { context });
  return directory === context.cwd ? undefined : directory;
}

/** A variable is one for a shell, too, and a flag is no name of a stranger's. */
function quoted(word: string): string {
  if (/^--?[\w-]+$/.test(word)) return word;
  return /^\$\{\w+\}$/.test(word) ? `"${word}"` : shellQuote(word);
}
