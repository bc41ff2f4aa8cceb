import { join } from 'node:path';
import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { referencedSecrets } from '../../config/expand/expand-entry.ts';
import {
  fileSecretStore,
  isSecretName,
  NAME_RULE,
  type SecretStore,
} from '../../config/secrets/secret-store.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Actions, parseAction } from '../flags/action-word.ts';
import { usageError } from '../flags/server-flags.ts';
import { cliContext } from '../host/config-context.ts';
import { homeDirectory } from '../host/with-host.ts';
import { ExitCode, errorDocument, formatFailure, UsageError } from '../output/failure.ts';
import { joinLines, jsonDocument } from '../output/format.ts';
import { type Output, processOutput } from '../output/output.ts';
import { readValue } from '../terminal/hidden-input.ts';
import { table } from '../terminal/table.ts';

const HELP = `
Keeps what servers need and nobody should read in a file of yours alone (secrets.json in ~/.toolplane, or in
TOOLPLANE_HOME). The entry of a server refers to a secret by \${secret:name}, in its command, args, env, url or headers.

  toolplane secret set github               asks for the value and does not show it
  pass show github | toolplane secret set github
  toolplane secret set key < key.pem
  toolplane secret list                     the names, and which servers refer to each
  toolplane secret remove github

A value is never taken from the command line, where other programs can see it and shells remember it. The newline at the
end of what is piped is not part of it. A server that runs gets a changed value when it is connected the next time.

Exit codes:
  0    done
  1    it could not be done; stderr says why
  2    the command was not understood, or there is no such secret
  130  it was interrupted; nothing was changed`;

const ACTIONS: Actions<'list' | 'set' | 'remove'> = {
  list: [0, 0, ''],
  // More than a name is most likely the value, which is refused in words of its own.
  set: [1, Number.POSITIVE_INFINITY, '<name>'],
  remove: [1, 1, '<name>'],
};

const NOT_HERE =
  'a value is not taken from the command line, where others can see it; type it when asked, or pipe it in';

/** `toolplane secret`: what `${secret:name}` stands for. */
export function defineSecret(command: Command): void {
  command
    .usage('[options] [list | set <name> | remove <name>]')
    .argument('[words...]', 'list, set <name>, or remove <name>')
    .option('--json', 'print what was done, or the list, as one JSON document')
    .addHelpText('after', HELP)
    .action(async (args: string[], { json }: { json?: true }, command: Command) => {
      const action = parseAction(command, args, ACTIONS);
      const [, name = '', ...more] = args;
      // What was typed is not shown again: it may be the value.
      if (action === 'set' && (more.length > 0 || name.includes('='))) usageError(command, NOT_HERE);
      if (action === 'set' && !isSecretName(name)) usageError(command, NAME_RULE);
      const format = json ? 'json' : 'text';
      const code = await startSecret(
        action === 'list' ? { action, format } : { action, format, name },
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

export type SecretRequest = { readonly format: 'text' | 'json' } & (
  | { readonly action: 'list' }
  | { readonly action: 'set' | 'remove'; readonly name: string }
);

type Work = { readonly store: SecretStore; readonly path: string; readonly output: Output };

/** `toolplane secret`; gives its exit code. */
export async function startSecret(request: SecretRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  const path = join(homeDirectory(env), 'secrets.json');
  const work = { store: fileSecretStore(path), path, output };
  try {
    if (request.action === 'list') return await list(request.format, work, env);
    return await (request.action === 'set' ? set : remove)(request.name, request.format, work);
  } catch (cause) {
    for (const line of formatFailure(cause)) output.report(line);
    if (request.format === 'json') await output.print(jsonDocument(errorDocument(cause)));
    return cause instanceof UsageError ? 2 : 1;
  }
}

const INTERRUPTED = 130;

async function set(name: string, format: string, { store, path, output }: Work): Promise<number> {
  // A store that cannot be used is told before anybody types.
  const had = store.names().includes(name);
  const value = await readValue(name, process.stdin, process.stderr);
  process.stdin.destroy();
  if (value === undefined) {
    output.report('nothing was changed');
    return INTERRUPTED;
  }
  store.set(name, value);
  const done = had ? 'replaced' : 'added';
  const text = `${done} ${name} in ${path}; entries refer to it by \${secret:${name}}\n`;
  await output.print(format === 'json' ? jsonDocument({ secret: name, done }) : text);
  return 0;
}

async function remove(name: string, format: string, { store, path, output }: Work): Promise<number> {
  const names = store.names();
  if (!names.includes(name) || !store.remove(name)) throw new UsageError(unknownText(name, names));
  const text = `removed ${name} from ${path}\n`;
  await output.print(format === 'json' ? jsonDocument({ secret: name, done: 'removed' }) : text);
  return 0;
}

function unknownText(name: string, names: readonly string[]): string {
  const closest = nearest(name, names);
  const hint = closest === undefined ? '' : `; did you mean "${closest}"?`;
  return `there is no secret "${name}"${hint} (there ${names.length === 0 ? 'are none' : `are ${names.join(', ')}`})`;
}

async function list(format: string, { store, output }: Work, env: NodeJS.ProcessEnv): Promise<number> {
  const names = store.names();
  const entries = await entriesOf(env, output);
  const found = listSecrets(names, entries ?? []);
  if (format === 'json') await output.print(jsonDocument(found));
  else if (names.length === 0)
    await output.print('there are no secrets; "toolplane secret set <name>" adds one\n');
  else await output.print(joinLines(secretTable(found, output.columns, entries ? 'known' : 'unknown')));
  for (const { name, servers } of found.missing) {
    const who = `${servers.join(', ')} ${servers.length === 1 ? 'refers' : 'refer'} to`;
    output.report(`there is no secret ${name}, which ${who}; run "toolplane secret set ${name}"`);
  }
  return 0;
}

/** What is configured here; secrets are listed also where that cannot be read. */
async function entriesOf(env: NodeJS.ProcessEnv, output: Output): Promise<[string, object][] | undefined> {
  try {
    const { merged } = await readConfiguration(cliContext(env));
    return merged.servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as [string, object]] : []));
  } catch (cause) {
    output.report(`which servers use them is not known: ${messageOf(cause)}`);
    return undefined;
  }
}

/** A secret and the servers whose entries refer to it. */
export type ListedSecret = { readonly name: string; readonly servers: readonly string[] };

/** Those that are kept, and those that are only referred to; both in the order of names. */
export type SecretList = {
  readonly secrets: readonly ListedSecret[];
  readonly missing: readonly ListedSecret[];
};

/** Who refers to what. */
export function listSecrets(
  kept: readonly string[],
  entries: readonly (readonly [server: string, entry: object])[],
): SecretList {
  const users = new Map<string, Set<string>>();
  for (const [server, entry] of entries) {
    for (const name of referencedSecrets(entry)) users.set(name, (users.get(name) ?? new Set()).add(server));
  }
  const listed = (name: string) => ({ name, servers: [...(users.get(name) ?? [])].toSorted() });
  const missing = [...users.keys()].filter((name) => !kept.includes(name));
  return { secrets: kept.toSorted().map(listed), missing: missing.toSorted().map(listed) };
}

/** A line each; `unknown` if nobody could be asked for the servers. */
export function secretTable(
  { secrets }: Pick<SecretList, 'secrets'>,
  columns: number | undefined,
  users: 'known' | 'unknown',
): string[] {
  const usedBy = (servers: readonly string[]) =>
    users === 'unknown' ? '?' : servers.length === 0 ? 'no server' : servers.join(', ');
  const rows = secrets.map(({ name, servers }) => [name, usedBy(servers)]);
  return table([['secret', 'used by'], ...rows], { columns });
}
