import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { isCredentialName } from '../../base/text/redact.ts';
import type { AuthEntry } from '../../mcp/auth/auth-types.ts';
import type { MissingVariable } from '../../mcp/transports/stdio/server-environment.ts';
import type { Configuration } from '../configuration.ts';
import { workingDirectory } from '../expand/server-directory.ts';
import { formatPosition } from '../files/diagnostics.ts';
import { isProgramServer } from '../merge/merge-servers.ts';
import type { ConfiguredServer, IgnoredServer, Scope } from '../model.ts';
import {
  type ConnectionRow,
  formatLocation,
  locationInSettings,
  locationOf,
  type ReferenceRow,
} from './explanation.ts';
import { maskEntry } from './mask-entry.ts';

type Situation = {
  readonly configuration: Pick<Configuration, 'context' | 'settingsSources'>;
  readonly server: ConfiguredServer;
  readonly missing: readonly ReferenceRow[];
  readonly connection: ConnectionRow | 'not asked';
};

/** What to do about a server: a command or an edit each, the most likely first. */
export function nextSteps(situation: Situation): string[] {
  const { configuration, server, missing } = situation;
  const { name, written, verdict, lost } = server;
  const word = shellQuote(name);
  const place = formatLocation(locationOf(written));
  switch (verdict.kind) {
    case 'pending':
      return [
        `review the entry at ${place}; to approve it: toolplane mcp approve ${word}`,
        `to reject it: toolplane mcp reject ${word}`,
      ];
    case 'rejected':
      return [`to undo the rejection: toolplane mcp approve ${word}`];
    case 'blocked':
      return [`ask your administrator to change ${verdict.rule}, or use another server`];
    case 'disabled':
      if (written.off !== undefined) return [`remove "${written.off}" from the entry at ${place}`];
      if (isClaudeFile(configuration, verdict.label)) {
        const at = formatLocation(
          locationInSettings(configuration.settingsSources, verdict, ['disabledMcpjsonServers']),
        );
        const override = `serverSettings.${name}.disabled to false in your own settings`;
        return [`remove "${name}" from disabledMcpjsonServers in ${at}, or set ${override}`];
      }
      return [
        `remove "disabled" of serverSettings.${name} in ${formatLocation(
          locationInSettings(configuration.settingsSources, verdict, ['serverSettings', name, 'disabled']),
        )}`,
      ];
    case 'broken': {
      const fix = `fix the entry at ${formatPosition(verdict.fault.label, verdict.fault.position)}`;
      return [isWritable(written.scope) ? `${fix}, or remove it: ${removeCommand(server)}` : fix];
    }
    case 'ready':
      return [
        ...missing.flatMap((use) => setReference(use, place)),
        ...(missing.length > 0 ? [] : connectionSteps(situation)),
        ...unshadow(server),
        ...approvePending(lost, word),
      ];
  }
}

function isClaudeFile({ settingsSources }: Pick<Configuration, 'settingsSources'>, label: string): boolean {
  return settingsSources.some((it) => it.label === label && it.format === 'claude');
}

function connectionSteps({ configuration, server, connection }: Situation): string[] {
  if (connection === 'not asked')
    return [`to check whether the server connects: toolplane mcp doctor ${shellQuote(server.name)}`];
  return connection.state === 'connected' ? [] : [failureStep(server, connection, configuration)];
}

/** What to do about a name that only ignored entries have. */
export function stepsForIgnored(lost: readonly IgnoredServer[], managed = 'managed-mcp.json'): string[] {
  return [...new Set(lost.flatMap((it) => stepForIgnored(it, managed)))];
}

function stepForIgnored({ written, why, winner }: IgnoredServer, managed: string): string[] {
  const place = formatLocation(locationOf(written));
  switch (why) {
    case 'pending':
    case 'rejected':
      return approvePending([{ written, why }], shellQuote(written.name));
    case 'duplicate':
      return winner ? [`use "${winner.name}", which connects to the same server`] : [];
    case 'same-name':
      return [`rename one of the two servers, for example at ${place}`];
    case 'left-out':
      return ['run without --strict-mcp-config, or add the scope of the entry to --setting-sources'];
    case 'managed':
      return [`ask your administrator to add the server to ${managed}`];
    case 'shadowed':
      return winner && isProgramServer(winner) ? [`to use both servers, rename the entry at ${place}`] : [];
  }
}

/** How to activate entries of the project that are pending approval. */
function approvePending(lost: readonly IgnoredServer[], word: string): string[] {
  return lost
    .filter(({ why }) => why === 'pending')
    .map(({ written }) => {
      const place = formatLocation(locationOf(written));
      return `to use the entry in ${place} instead, review it, then run: toolplane mcp approve ${word}`;
    });
}

/** How to set a variable or secret. The value belongs in the environment or the secret store, never in the file. */
function setReference({ reference, where }: ReferenceRow, place: string): string[] {
  const secret = /^\$\{secret:(.*)\}$/.exec(reference)?.[1];
  if (secret !== undefined) return [`set the secret: toolplane secret set ${shellQuote(secret)}`];
  const name = reference.slice(2, -1);
  const other = isCredentialName(name)
    ? `or store the value as a secret: toolplane secret set ${name}, and replace "${reference}" by "\${secret:${name}}" in ${where} at ${place}`
    : `or replace "${reference}" by "\${${name}:-…}", which has a default, in ${where} at ${place}`;
  return [`set the variable in this shell: export ${name}=…`, other];
}

/** How to use the entry that this one shadows. */
function unshadow(server: ConfiguredServer): string[] {
  const { written, lost } = server;
  const shadowed = lost.find(({ why }) => why === 'shadowed')?.written;
  if (shadowed === undefined || shadowed.scope === written.scope || !isWritable(written.scope)) return [];
  return [`to use the entry in ${formatLocation(locationOf(shadowed))} instead: ${removeCommand(server)}`];
}

function isWritable(scope: Scope): boolean {
  return scope === 'local' || scope === 'project' || scope === 'user';
}

function removeCommand({ name, written: { scope } }: ConfiguredServer): string {
  return `toolplane mcp remove ${shellQuote(name)} --scope ${scope}`;
}

/** What to do about a server that could not be connected, by the kind of failure. */
function failureStep(
  server: ConfiguredServer,
  { code, missingVariable, stage }: ConnectionRow,
  configuration: Pick<Configuration, 'context'>,
): string {
  const { name, written } = server;
  const place = formatLocation(locationOf(written));
  if (missingVariable !== undefined) return variableStep(missingVariable, place);
  if (stage === 'command') return commandStep(server, place);
  if (stage === 'tls') return `check "url" and "tls" at ${place}; for a private CA, set "tls.ca"`;
  switch (code) {
    case 'unauthorized':
      return hasCredentials(server)
        ? `check the credentials in "headers" or "headersHelper" at ${place}`
        : `toolplane mcp login ${shellQuote(name)}`;
    case 'spawn-failed':
      return `if the server needs variables of your shell, add "env": { "NAME": "\${NAME}" } or "inheritEnv": ["NAME"] at ${place}, because servers get only a limited environment; to run the server in that environment: ${commandByHand(server, configuration)}`;
    case 'timeout':
      return `if the server is slow to start, set serverSettings.${name}.connectTimeoutMs (milliseconds) in your settings.json`;
    case 'unreachable':
      return `check "url", "type" and "headers" at ${place}, and that the server is running`;
    default:
      return `fix the entry at ${place}`;
  }
}

/** Whether the entry sets the credentials itself, so that there is no sign-in. */
function hasCredentials({ entry }: ConfiguredServer): boolean {
  const { headers = {}, headersHelper } = (entry ?? {}) as AuthEntry;
  return headersHelper !== undefined || Object.keys(headers).some((it) => /^authorization$/i.test(it));
}

/** The error names the variable; the step is the edit of the entry. */
function variableStep({ name, isWithheld }: MissingVariable, place: string): string {
  const value = isWithheld ? `\${${name}}` : '…';
  const flag = isWithheld ? `-e ${name}='${value}'` : `-e ${name}=${value}`;
  return `add "env": { "${name}": "${value}" } at ${place} (the same as ${flag} of toolplane mcp add)`;
}

/** The command cannot be executed: it is not installed, not on the PATH of servers, or contains its arguments. */
function commandStep({ entry }: ConfiguredServer, place: string): string {
  const command = entry && 'command' in entry ? (entry.command ?? '') : '';
  if (/\s/.test(command)) return `move the arguments in "command" to "args" at ${place}`;
  const program = command.replace(/^.*[\\/]/, '');
  const product = PROVIDED_BY.get(program);
  const install =
    product === undefined ? `install ${program}` : `install ${product}, which provides ${program}`;
  return `${install}, or set an absolute path in "command" at ${place}`;
}

/** The product to install for a common command. */
const PROVIDED_BY: ReadonlyMap<string, string> = new Map([
  ['npx', 'Node.js'],
  ['npm', 'Node.js'],
  ['node', 'Node.js'],
  ['uvx', 'uv'],
  ['bunx', 'Bun'],
  ['python', 'Python'],
  ['python3', 'Python'],
  ['docker', 'Docker'],
]);

/** The shell command that runs the server in the directory and with the environment that the host gives it; secrets are masked. */
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

/** The directory of the server, if it is not the working directory. */
function otherDirectory(
  { written, entry }: ConfiguredServer,
  { context }: Pick<Configuration, 'context'>,
): string | undefined {
  // A `cwd` with a variable is known only once the variable is substituted.
  if (entry === undefined || ('cwd' in entry && entry.cwd?.includes('${'))) return undefined;
  const directory = workingDirectory(written, entry, { context });
  return directory === context.cwd ? undefined : directory;
}

/** Quotes a word for a shell, except flags; a variable stays a variable. */
function quoted(word: string): string {
  if (/^--?[\w-]+$/.test(word)) return word;
  return /^\$\{\w+\}$/.test(word) ? `"${word}"` : shellQuote(word);
}
