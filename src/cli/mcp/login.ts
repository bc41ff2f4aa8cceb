import type { Command } from 'commander';
import { SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { visibleJson } from '../../base/text/display-text.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { expandEntry } from '../../config/expand/expand-entry.ts';
import { formatSummary, serverRecord } from '../../config/explain/server-record.ts';
import { RunningConfiguration, sessionTimeouts } from '../../config/running-configuration.ts';
import { configuredIdentityProvider, sealedCredentialStore } from '../../config/secrets/account-store.ts';
import { openSecretStore } from '../../config/secrets/secret-store.ts';
import { addressLabel } from '../../config/sources/config-paths.ts';
import { VERSION } from '../../entry/version.ts';
import {
  type AuthEntry,
  AuthError,
  type CredentialStore,
  isMachineGrant,
  type SignedOut,
} from '../../mcp/auth/auth-types.ts';
import { accountKey, ServerAuth } from '../../mcp/auth/authorizer.ts';
import { clearSignIns } from '../../mcp/auth/cross-app-access.ts';
import { CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import { connect } from '../../mcp/connection/connect.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import { SecretMask } from '../../mcp/connection/secret-mask.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { openServer } from '../../mcp/servers/open-server.ts';
import { addJsonFlag, formatOf, type McpFormat, usageError } from '../flags/flag-values.ts';
import { cliContext } from '../host/named-servers.ts';
import { abortOnSignals } from '../host/with-host.ts';
import { CommandFailed, exitWith, formatFailure, UsageError } from '../output/failure.ts';
import { type Output, processOutput } from '../output/output.ts';
import { SignInPrompt, type SignInRequest } from './ask-sign-in.ts';
import { unknownServer } from './entries.ts';
import { createLookup, freshConfiguration, remoteEntry } from './session.ts';

const LOGIN_HELP = `
Signs in to a remote server with OAuth. The command prints the address of the sign-in page and opens it in a browser. The
browser is then redirected to a port of this machine, where the command waits for it. If the browser runs on another
machine, the redirect fails there: copy its address and paste it into the command. Without a terminal, the address is
read from stdin.

  toolplane mcp login docs
  toolplane mcp login docs --no-browser    print the address only

A new sign-in replaces the stored one. The command waits for five minutes. With --json it prints one object per line:
{"type":"authorize","url","redirectUri"}, then {"type":"done","server"} or {"type":"failed","code","message"}.

Exit codes:
  0    signed in, and the server accepts it; or the server does not require it
  1    failure; the reason is on stderr
  2    unknown server, or usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp login`. */
export function defineLogin(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .option('--no-browser', 'print the address of the sign-in page and do not open a browser')
    .addHelpText('after', LOGIN_HELP)
    .action(async (name: string, values: { json?: true; browser: boolean }) => {
      const request = { name, opensBrowser: values.browser };
      exitWith(await inLines(formatOf(values), process.env, (session) => login(request, session)));
    });
}

/** The output of a command that prints one JSON object per line. */
export type LineSession = {
  readonly env: NodeJS.ProcessEnv;
  readonly format: McpFormat;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Prints an object with `--json`, and the text without. */
  print(line: object, text: string): Promise<void>;
};

/** Runs a command that prints one JSON object per line; returns its exit code. A failure is the last line. */
export async function inLines(
  format: McpFormat,
  env: NodeJS.ProcessEnv,
  work: (session: LineSession) => Promise<void>,
): Promise<number> {
  const ended = new AbortController();
  const { signal } = ended;
  const output = processOutput(env, () => ended.abort(1));
  using _signals = abortOnSignals(ended);
  const print = (line: object, text: string) =>
    output.print(format === 'json' ? `${visibleJson(JSON.stringify(line))}\n` : `${text}\n`);
  try {
    await work({ env, format, output, signal, print });
    return 0;
  } catch (cause) {
    const failure = signal.aborted ? new CommandFailed('interrupted') : cause;
    const lines = formatFailure(failure);
    for (const line of lines) output.report(line);
    const code = signal.aborted ? 'cancelled' : codeOf(cause);
    if (format === 'json') await print({ type: 'failed', code, message: lines.join('\n') }, '');
    if (signal.aborted) return typeof signal.reason === 'number' ? signal.reason : 1;
    return cause instanceof UsageError ? 2 : 1;
  }
}

function codeOf(cause: unknown): string {
  if (cause instanceof AuthError) return cause.authCode;
  if (cause instanceof UsageError) return 'unknown-server';
  const code = cause instanceof HostError || cause instanceof CommandFailed ? cause.code : undefined;
  return code ?? 'failed';
}

type LoginRequest = { readonly name: string; readonly opensBrowser: boolean };

async function login({ name, opensBrowser }: LoginRequest, session: LineSession): Promise<void> {
  const { env, format, output, signal, print } = session;
  const context = cliContext(env);
  const configuration = await freshConfiguration({ context, report: output.report });
  const { running, entry, remote } = remoteServer(configuration, name);
  const store = signInStore(sealedCredentialStore(context));
  // A store that cannot be used is reported before the user signs in.
  const account = await store.read(accountKey(remote.url));
  using prompt = signInPrompt(name, opensBrowser, session);
  try {
    const identityProvider = configuredIdentityProvider(configuration.settings, context);
    const auth = new ServerAuth({ store, env, onAuthorize: prompt.ask, identityProvider });
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = sessionTimeouts(configuration.settings.timeouts);
    const clientInfo = { name: 'toolplane', version: VERSION };
    const opened = await openServer(
      name,
      entry,
      {
        connect,
        context: { env, cwd: context.cwd, connectTimeoutMs, clientInfo, auth, expand: running.expand },
        clock: SYSTEM_CLOCK,
        onClose() {},
      },
      signal,
    );
    await opened.connection.close();
    // Some servers require a token only for some calls; the entry or an account says that there is a sign-in.
    if (!store.isSignedIn && (remote.oauth || account) && !isMachineGrant(remote.oauth))
      await auth.signIn(name, remote, { signal });
    signal.throwIfAborted();
    const text = store.isSignedIn ? `Signed in to ${name}.` : `${name} does not require a sign-in.`;
    if (format === 'text' && process.stdin.isTTY) process.stderr.write('\n');
    await print({ type: 'done', server: name }, text);
  } finally {
    process.stdin.destroy();
  }
}

/** Asks the user of the command to sign in to `name`. */
export function signInPrompt(name: string, opensBrowser: boolean, session: LineSession): SignInPrompt {
  return new SignInPrompt({
    env: session.env,
    platform: process.platform,
    input: process.stdin,
    opensBrowser,
    show: (request) => showSignIn(name, request, session),
    prompt: (text) => void process.stderr.write(text),
  });
}

/** Shows the address of the sign-in page. */
function showSignIn(
  name: string,
  { url, redirectUri, isOpened }: SignInRequest,
  { print, output, format }: LineSession,
): Promise<void> {
  const how = isOpened
    ? `Sign in to ${name} in the browser. If it does not open, use this address:`
    : `To sign in to ${name}, open this address in a browser:`;
  const paste = `If the browser runs on another machine and cannot open ${redirectUri}, paste the address of that page here.`;
  if (format === 'json') output.report(paste);
  return print({ type: 'authorize', url: url.href, redirectUri }, `${how}\n\n  ${url.href}\n\n${paste}`);
}

type RemoteServer = {
  readonly running: RunningConfiguration;
  readonly entry: ServerEntry;
  /** The entry with its variables substituted. */
  readonly remote: AuthEntry;
};

/** A server to sign in to. Throws if the server may not be started, is not remote, or has credentials in its entry. */
function remoteServer(configuration: Configuration, name: string): RemoteServer {
  const record = serverRecord(configuration, name, { lookup: createLookup(configuration) });
  if (record.state === 'unknown') throw unknownServer(configuration, name);
  const running = new RunningConfiguration(configuration, { only: [name], changes: 'once' });
  const entry = record.state === 'ready' ? running.servers[name] : undefined;
  if (entry === undefined) throw new CommandFailed(formatSummary(record), 'bad-config');
  const { entry: remote } = running.expand(name, entry);
  const { type = 'url' in remote ? 'http' : 'stdio' } = remote;
  if (type !== 'http' && type !== 'sse' && type !== 'ws') throw notRemote(name);
  const member = credentialsMember(remote as AuthEntry);
  if (member !== undefined)
    throw new CommandFailed(
      `server ${name} gets its credentials from ${member} in its entry; remove that member to sign in`,
      'bad-config',
    );
  return { running, entry, remote: remote as AuthEntry };
}

/** The member of an entry that sets the credentials, so that a sign-in has no effect. */
function credentialsMember({ headers = {}, headersHelper }: AuthEntry): string | undefined {
  if (Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')) return '"headers"';
  return headersHelper === undefined ? undefined : '"headersHelper"';
}

/** The stored accounts without their tokens until a sign-in has stored new ones, so that the server asks for a sign-in. */
function signInStore(store: CredentialStore): CredentialStore & { readonly isSignedIn: boolean } {
  let isSignedIn = false;
  return {
    get kind() {
      return store.kind;
    },
    get isSignedIn() {
      return isSignedIn;
    },
    list: () => store.list(),
    remove: (server) => store.remove(server),
    readIdp: (issuer) => store.readIdp(issuer),
    writeIdp: (account) => store.writeIdp(account),
    removeIdp: (issuer) => store.removeIdp(issuer),
    exclusive: (...request) => store.exclusive(...request),
    watch: (onChange) => store.watch(onChange),
    async read(server) {
      const account = await store.read(server);
      if (account === undefined || isSignedIn) return account;
      const { tokens: _, ...rest } = account;
      return rest;
    },
    async write(account) {
      // An account without tokens is a stored one with other members.
      const hasTokens = isSignedIn || account.tokens !== undefined;
      await store.write(hasTokens ? account : { ...(await store.read(account.server)), ...account });
      isSignedIn = hasTokens;
    },
  };
}

const LOGOUT_HELP = `
Asks the authorization server to revoke the tokens of a server, and deletes them from this machine in any case. A running
host or agent needs a new sign-in for its next connection.

  toolplane mcp logout docs
  toolplane mcp logout --all               sign out of every server and identity provider, also of those that are not
                                           configured any more

With --json it prints one object per line: {"type":"done","server","removed","revoked"}, where "removed" is false if there
was no sign-in and "revoked" is yes, no or unsupported; with --all the same with "issuer" instead of "server" for each
identity provider; or {"type":"failed","code","message"}.

Exit codes:
  0    signed out, or there was no sign-in
  1    failure; the reason is on stderr
  2    unknown server, or usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp logout`. */
export function defineLogout(command: Command): void {
  addJsonFlag(command)
    .usage('[options] [<name> | --all]')
    .argument('[name]', 'the server')
    .option('--all', 'sign out of every server')
    .addHelpText('after', LOGOUT_HELP)
    .action(async (name: string | undefined, values: { json?: true; all?: true }) => {
      if ((name === undefined) !== (values.all === true)) usageError(command, 'name a server or use --all');
      exitWith(await inLines(formatOf(values), process.env, (session) => logout(name, session)));
    });
}

/** Signs out of one server; without a name, of all. */
async function logout(name: string | undefined, { env, output, print, signal }: LineSession): Promise<void> {
  const context = cliContext(env);
  const configuration = await readConfiguration(context);
  const store = sealedCredentialStore(context);
  const auth = new ServerAuth({ store, env });
  const servers =
    name === undefined
      ? (await store.list()).map(({ server }) => server).map(accountServers(configuration))
      : [[name, writtenServer(configuration, name)] as const];
  for (const [server, entry] of servers) {
    signal.throwIfAborted();
    const outcome = await auth.signOut(server, entry);
    await print({ type: 'done', server, ...outcome }, signedOutText(server, outcome));
  }
  const idps = name === undefined ? await store.listIdps() : [];
  const known = configuredIdentityProvider(configuration.settings, context);
  for (const { issuer, removed, revoked } of await clearSignIns(idps, known, { store, env }))
    await print({ type: 'done', issuer, removed, revoked }, signedOutText(issuer, { removed, revoked }));
  if (servers.length + idps.length === 0) output.report('there is no sign-in');
}

/**
 * The server of an account, by the key of the account: the name and the entry if there is one that signs in, otherwise
 * the address as it may be shown.
 */
export function accountServers(
  configuration: Configuration,
): (key: string) => readonly [server: string, entry: AuthEntry] {
  const lookup = createLookup(configuration);
  const configured = new Map(
    configuration.merged.servers.flatMap(({ name, entry }) => {
      const found = entry && remoteEntry(entry, lookup);
      const isSignedIn = found && credentialsMember(found) === undefined;
      return isSignedIn ? [[accountKey(found.url), [name, found] as const] as const] : [];
    }),
  );
  const store = openSecretStore(configuration.context);
  const secrets = new SecretMask(
    [],
    store.names().flatMap((name) => store.get(name) ?? []),
  );
  return (key) => configured.get(key) ?? [secrets.mask(addressLabel(key)), { url: key }];
}

/** The entry of a remote server, whether or not the server may be started. */
function writtenServer(configuration: Configuration, name: string): AuthEntry {
  const record = serverRecord(configuration, name);
  if (record.state === 'unknown') throw unknownServer(configuration, name);
  const { entry } = record.server ?? {};
  if (entry === undefined) throw new CommandFailed(formatSummary(record), 'bad-config');
  const lookup = createLookup(configuration);
  const expanded = expandEntry(entry, lookup);
  // An address that is not known has no account.
  if (expanded.kind === 'faulty') {
    const why = expanded.faults.join('; ');
    throw new CommandFailed(
      `cannot determine the account of server ${name}: ${why}; fix this, or sign out of all servers with: toolplane mcp logout --all`,
      'bad-config',
    );
  }
  const remote = remoteEntry(entry, lookup);
  if (remote === undefined) throw notRemote(name);
  const member = credentialsMember(remote);
  if (member !== undefined)
    throw new CommandFailed(
      `there is no sign-in to server ${name}: its credentials come from ${member} in its entry`,
      'bad-config',
    );
  return remote;
}

function notRemote(name: string): AuthError {
  return new AuthError(
    'not-remote',
    name,
    'the server is started by a command; only servers with a "url" have a sign-in',
  );
}

export function signedOutText(server: string, { removed, revoked }: SignedOut): string {
  if (!removed) return `There was no sign-in to ${server}.`;
  return `Signed out of ${server}. ${REVOKED[revoked]}`;
}

const REVOKED: Readonly<Record<SignedOut['revoked'], string>> = {
  yes: 'Its tokens are revoked.',
  no: 'Its authorization server did not revoke the tokens: copies of them are valid until they expire.',
  unsupported: 'Its authorization server cannot revoke tokens: copies of them are valid until they expire.',
};
