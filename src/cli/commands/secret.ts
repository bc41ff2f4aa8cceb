import { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import type { Command } from 'commander';
import { didYouMean } from '../../base/text/nearest.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { referencedSecrets } from '../../config/expand/expand-entry.ts';
import {
  isSecretName,
  MAX_SECRET_BYTES,
  NAME_RULE,
  openSecretStore,
  type SecretStore,
  secretsPath,
} from '../../config/secrets/secret-store.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Actions, parseAction, usageError } from '../flags/flag-values.ts';
import { cliContext } from '../host/named-servers.ts';
import { CommandFailed, exitWith, reportFailure, UsageError } from '../output/failure.ts';
import { joinLines, jsonDocument } from '../output/format.ts';
import { type Output, processOutput } from '../output/output.ts';
import { LineEditor, PASTE_OFF, PASTE_ON } from '../terminal/line-editor.ts';
import { table } from '../terminal/table.ts';

const HELP = `
Stores secrets for servers in an encrypted file that only you can read (secrets.enc in ~/.toolplane or
TOOLPLANE_HOME). A server entry refers to a secret as \${secret:name} in its command, args, env, cwd, url, headers, headersHelper, tls, oauth, authToken or ideName.

  toolplane secret set github               asks for the value, without echo
  pass show github | toolplane secret set github
  toolplane secret set key < key.pem
  toolplane secret list                     the names, and the servers that use each
  toolplane secret remove github

A value is never read from the command line, where other programs can see it and shells record it. A trailing newline of
piped input is not part of the value. A running server gets a changed value at its next connection.

The key is kept in the keychain of the system. If the keychain cannot be used, or with TOOLPLANE_SECRETS=file, the key is
derived from a file that is bound to this machine. With TOOLPLANE_PASSPHRASE, the key is derived from that passphrase.

Exit codes:
  0    success
  1    failure; the reason is on stderr
  2    usage error, or unknown secret
  130  interrupted; nothing was changed`;

const ACTIONS: Actions<'list' | 'set' | 'remove'> = {
  list: [0, 0, ''],
  // A second argument is most likely the value, which has its own error message.
  set: [1, Number.POSITIVE_INFINITY, '<name>'],
  remove: [1, 1, '<name>'],
};

const NOT_HERE =
  'a secret value is not accepted on the command line, where other programs can read it; enter it at the prompt or pipe it to stdin';

/** `toolplane secret`: manages the values of `${secret:name}`. */
export function defineSecret(command: Command): void {
  command
    .usage('[options] [list | set <name> | remove <name>]')
    .argument('[words...]', 'list, set <name>, or remove <name>')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action(async (args: string[], { json }: { json?: true }, command: Command) => {
      const action = parseAction(command, args, ACTIONS);
      const [, name = '', ...more] = args;
      // The argument may be the value, so it is not repeated.
      if (action === 'set' && (more.length > 0 || name.includes('='))) usageError(command, NOT_HERE);
      if (action === 'set' && !isSecretName(name)) usageError(command, NAME_RULE);
      const format = json ? 'json' : 'text';
      exitWith(
        await startSecret(action === 'list' ? { action, format } : { action, format, name }, process.env),
      );
    });
}

export type SecretRequest = { readonly format: 'text' | 'json' } & (
  | { readonly action: 'list' }
  | { readonly action: 'set' | 'remove'; readonly name: string }
);

type Work = { readonly store: SecretStore; readonly path: string; readonly output: Output };

/** Runs `toolplane secret`; returns its exit code. */
export async function startSecret(request: SecretRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  try {
    const context = cliContext(env);
    const work = { store: openSecretStore(context, output.report), path: secretsPath(context.home), output };
    if (request.action === 'list') return await list(request.format, work, env);
    return await (request.action === 'set' ? set : remove)(request.name, request.format, work);
  } catch (cause) {
    return reportFailure(cause, output, request.format);
  }
}

const INTERRUPTED = 130;

async function set(name: string, format: string, { store, path, output }: Work): Promise<number> {
  // An unusable store is reported before the prompt.
  const had = store.names().includes(name);
  const value = await readValue(name, process.stdin, process.stderr);
  process.stdin.destroy();
  if (value === undefined) {
    output.report(`secret ${name} was not changed: the input was cancelled`);
    return INTERRUPTED;
  }
  store.set(name, value);
  const done = had ? 'replaced' : 'added';
  const text = `${done} secret ${name} in ${path}; refer to it as \${secret:${name}}\n`;
  await output.print(format === 'json' ? jsonDocument({ secret: name, done }) : text);
  return 0;
}

async function remove(name: string, format: string, { store, path, output }: Work): Promise<number> {
  const names = store.names();
  if (!names.includes(name) || !store.remove(name)) throw new UsageError(unknownText(name, names));
  const text = `removed secret ${name} from ${path}\n`;
  await output.print(format === 'json' ? jsonDocument({ secret: name, done: 'removed' }) : text);
  return 0;
}

function unknownText(name: string, names: readonly string[]): string {
  return `unknown secret "${name}"${didYouMean(name, names)} (${names.length === 0 ? 'no secrets are stored' : `known: ${names.join(', ')}`})`;
}

async function list(format: string, { store, output }: Work, env: NodeJS.ProcessEnv): Promise<number> {
  const names = store.names();
  const entries = await entriesOf(env, output);
  const found = listSecrets(names, entries ?? []);
  if (format === 'json') await output.print(jsonDocument(found));
  else if (names.length === 0)
    await output.print('no secrets are stored; add one with "toolplane secret set <name>"\n');
  else await output.print(joinLines(secretTable(found, output.columns, entries ? 'known' : 'unknown')));
  for (const { name, servers } of found.missing) {
    output.report(
      `secret ${name} is not set but used by ${servers.join(', ')}; run "toolplane secret set ${name}"`,
    );
  }
  return 0;
}

/** The server entries; undefined if the configuration cannot be read. */
async function entriesOf(env: NodeJS.ProcessEnv, output: Output): Promise<[string, object][] | undefined> {
  try {
    const { merged } = await readConfiguration(cliContext(env));
    return merged.servers.flatMap(({ name, entry }) => (entry ? [[name, entry] as [string, object]] : []));
  } catch (cause) {
    output.report(`cannot determine which servers use the secrets: ${messageOf(cause)}`);
    return undefined;
  }
}

/** A secret and the servers whose entries refer to it. */
export type ListedSecret = { readonly name: string; readonly servers: readonly string[] };

/** Stored secrets and secrets that are only referred to, in the order of names. */
export type SecretList = {
  readonly secrets: readonly ListedSecret[];
  readonly missing: readonly ListedSecret[];
};

/** The servers that refer to each secret. */
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

/** One line per secret; `unknown` if the configuration cannot be read. */
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

/** Reads a value from the terminal without echo, or from a pipe; undefined if it was cancelled. */
export async function readValue(
  name: string,
  input: NodeJS.ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  return input.isTTY ? readTyped(name, input, prompt) : readPiped(name, input);
}

/** The line editor edits the line and joins pasted lines; its output is discarded, so nothing is echoed. */
async function readTyped(
  name: string,
  input: ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // The editor turns echo off before the prompt is shown.
  using editor = new LineEditor({ input, output, isInteractive: true }, { stray() {} });
  prompt.write(`Value of ${name} (input is hidden): ${PASTE_ON}`);
  const end = await editor.read('', 'answer');
  prompt.write(`${PASTE_OFF}\n`);
  return end.kind === 'text' ? end.text : undefined;
}

/** The whole input without its trailing newline. */
async function readPiped(name: string, input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of input) {
    chunks.push(bytes as Buffer);
    length += (bytes as Buffer).length;
    // The limit is exceeded; the rest of the input may be endless.
    if (length > 2 * MAX_SECRET_BYTES) break;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    const fault =
      length > MAX_SECRET_BYTES
        ? `the value is longer than ${MAX_SECRET_BYTES} bytes`
        : 'stdin is not valid UTF-8';
    throw new CommandFailed(`cannot store the value of ${name}: ${fault}`, 'bad-config');
  }
}
