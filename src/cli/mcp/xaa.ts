import { type Command, Option } from 'commander';
import { readConfiguration } from '../../config/configuration.ts';
import { editDocument } from '../../config/files/edit-document.ts';
import {
  configuredIdentityProvider,
  IDP_SECRET,
  sealedCredentialStore,
} from '../../config/secrets/account-store.ts';
import { openSecretStore } from '../../config/secrets/secret-store.ts';
import { isSecureUrl, SECURE_URL_RULE } from '../../config/settings/read-settings.ts';
import { editOptionsFor } from '../../config/write/file-options.ts';
import { pathOfScope } from '../../config/write/write-servers.ts';
import { clearSignIns, IdentityProviderSignIn, isSameClient } from '../../mcp/auth/cross-app-access.ts';
import { addCommands, type CommandRow } from '../command-table.ts';
import { readValue } from '../commands/secret.ts';
import { addJsonFlag, formatOf, portNumber, usageError } from '../flags/flag-values.ts';
import { cliContext } from '../host/named-servers.ts';
import { CommandFailed, exitWith } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { accountServers, inLines, type LineSession, signedOutText, signInPrompt } from './login.ts';
import { inSession, type Session } from './session.ts';

/** One row per sub-command, in the order of `--help`. */
const COMMANDS: readonly CommandRow[] = [
  { name: 'setup', summary: 'Set the identity provider in your settings.', load: async () => defineSetup },
  { name: 'login', summary: 'Sign in at the identity provider.', load: async () => defineXaaLogin },
  { name: 'status', summary: 'Show the identity provider and the sign-in.', load: async () => defineStatus },
  {
    name: 'clear',
    summary: 'Remove the sign-in, the tokens obtained with it, and the settings.',
    load: async () => defineClear,
  },
];

const HELP = `
Cross-app access: you sign in once at the identity provider of your organization, and servers with "oauth": {"xaa": true}
in their entry get their tokens from this sign-in, without another browser window.

  toolplane mcp xaa setup --issuer https://idp.example.com --client-id toolplane
  toolplane mcp xaa login
  toolplane mcp add docs https://docs.example.com/mcp --xaa --client-id docs-app --issuer https://auth.example.com

Exit codes:
  0    success
  1    failure; the reason is on stderr
  2    usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp xaa`: the sign-in at the identity provider of the organization. */
export function defineXaa(command: Command): void {
  addCommands(command.addHelpText('after', HELP), COMMANDS);
}

type SetupValues = {
  json?: true;
  issuer: string;
  clientId: string;
  clientSecret?: true;
  callbackPort?: number;
};

const SETUP_HELP = `
Writes "xaaIdp" to your settings (~/.toolplane/settings.json). Register the client at the identity provider with the
redirect URI http://localhost:PORT/callback; without --callback-port, any port must be accepted. The client secret is
stored encrypted, as the secret ${IDP_SECRET}. A sign-in at an identity provider that is replaced is revoked and removed.`;

function defineSetup(command: Command): void {
  addJsonFlag(command)
    .requiredOption('--issuer <url>', 'the identity provider: the issuer of its ID tokens')
    .requiredOption('--client-id <id>', 'the client that is registered there')
    .option('--client-secret', 'the client has a secret: asks for it, or reads MCP_XAA_IDP_CLIENT_SECRET')
    .addOption(
      new Option('--callback-port <port>', 'the port of the redirect URI of the client').argParser(
        portNumber,
      ),
    )
    .addHelpText('after', SETUP_HELP)
    .action(async (values: SetupValues) => {
      if (!isSecureUrl(values.issuer)) usageError(command, `--issuer ${SECURE_URL_RULE}`);
      exitWith(await inSession(formatOf(values), process.env, (session) => setup(values, session)));
    });
}

async function setup(values: SetupValues, { context, env, answer, report }: Session): Promise<number> {
  const { issuer, clientId, callbackPort } = values;
  // With its client secret, which is replaced below.
  const before = configuredIdentityProvider((await readConfiguration(context)).settings, context);
  if (values.clientSecret) {
    const value =
      env.MCP_XAA_IDP_CLIENT_SECRET || (await readValue(IDP_SECRET, process.stdin, process.stderr));
    process.stdin.destroy();
    if (!value)
      throw new CommandFailed(
        'nothing was written: the client secret is missing; type it, pipe it in, or set MCP_XAA_IDP_CLIENT_SECRET',
      );
    openSecretStore(context, report).set(IDP_SECRET, value);
  } else {
    // A secret of an earlier client would be sent to the new identity provider.
    removeSecret({ context, report });
  }
  const xaaIdp = { issuer, clientId, ...(callbackPort !== undefined && { callbackPort }) };
  const path = pathOfScope(context, 'user');
  editDocument(path, () => [{ path: ['xaaIdp'], value: xaaIdp }], editOptionsFor(context, path));
  const { settings } = await readConfiguration(context);
  if (settings.xaaIdp?.issuer !== issuer || settings.xaaIdp.clientId !== clientId)
    report(`the managed settings take precedence: the identity provider is ${settings.xaaIdp?.issuer}`);
  const store = sealedCredentialStore(context);
  const replaced = (await store.listIdps()).filter((it) => !isSameClient(it, settings.xaaIdp));
  for (const { issuer: former, ...outcome } of await clearSignIns(replaced, before, { store, env }))
    report(signedOutText(former, outcome));
  await answer({
    document: { xaaIdp, path },
    pieces: [line(`identity provider ${issuer} saved in ${path}; sign in with: toolplane mcp xaa login`)],
  });
  return 0;
}

function removeSecret({ context, report }: Pick<Session, 'context' | 'report'>): void {
  const secrets = openSecretStore(context, report);
  if (secrets.names().includes(IDP_SECRET)) secrets.remove(IDP_SECRET);
}

const LOGIN_HELP = `
Opens the sign-in page of the identity provider, as toolplane mcp login does for a server. With --json it prints one object
per line: {"type":"authorize","url","redirectUri"}, then {"type":"done","issuer"} or {"type":"failed","code","message"}.`;

function defineXaaLogin(command: Command): void {
  addJsonFlag(command)
    .option('--no-browser', 'print the address of the sign-in page and do not open a browser')
    .addHelpText('after', LOGIN_HELP)
    .action(async (values: { json?: true; browser: boolean }) => {
      exitWith(await inLines(formatOf(values), process.env, (session) => login(values.browser, session)));
    });
}

async function login(opensBrowser: boolean, session: LineSession): Promise<void> {
  const { env, signal, print } = session;
  const context = cliContext(env);
  const { settings } = await readConfiguration(context);
  const idp = configuredIdentityProvider(settings, context);
  if (!idp) throw notConfigured();
  using prompt = signInPrompt(new URL(idp.issuer).host, opensBrowser, session);
  try {
    const signIn = new IdentityProviderSignIn(idp, { store: sealedCredentialStore(context), env });
    await signIn.signIn({ signal, onAuthorize: prompt.ask });
    await print({ type: 'done', issuer: idp.issuer }, `Signed in at ${idp.issuer}.`);
  } finally {
    process.stdin.destroy();
  }
}

function notConfigured(): CommandFailed {
  return new CommandFailed(
    'no identity provider is set; run: toolplane mcp xaa setup --issuer URL --client-id ID',
  );
}

function defineStatus(command: Command): void {
  addJsonFlag(command).action(async (values: { json?: true }) => {
    exitWith(await inSession(formatOf(values), process.env, showStatus));
  });
}

async function showStatus({ context, answer }: Session): Promise<number> {
  const configuration = await readConfiguration(context);
  const { xaaIdp } = configuration.settings;
  if (!xaaIdp) {
    await answer({ document: { state: 'none' }, pieces: [line(notConfigured().message)] });
    return 0;
  }
  const store = sealedCredentialStore(context);
  const account = await store.readIdp(xaaIdp.issuer);
  const tokens = account?.clientId === xaaIdp.clientId ? account.tokens : undefined;
  const isExpired = tokens?.expiresAt !== undefined && tokens.expiresAt <= Date.now();
  const canRenew = tokens?.refreshToken !== undefined;
  const state = !tokens ? 'needs-auth' : isExpired && !canRenew ? 'expired' : 'authorized';
  const obtained = (await store.list()).filter((it) => it.identityProvider === xaaIdp.issuer);
  const serverOf = accountServers(configuration);
  const servers = obtained.map((account) => serverOf(account.server)[0]);
  const expiresAt = tokens?.expiresAt && new Date(tokens.expiresAt).toISOString();
  await answer({
    document: {
      ...xaaIdp,
      state,
      ...(expiresAt && { expiresAt }),
      ...(tokens && { store: store.kind }),
      servers,
    },
    pieces: [line(`${xaaIdp.issuer}: ${STATES[state]}`), ...servers.map((server) => line(`  ${server}`))],
  });
  return 0;
}

const STATES = {
  authorized: 'signed in',
  expired: 'the sign-in has expired; run: toolplane mcp xaa login',
  'needs-auth': 'not signed in; run: toolplane mcp xaa login',
};

function defineClear(command: Command): void {
  addJsonFlag(command).action(async (values: { json?: true }) => {
    exitWith(await inSession(formatOf(values), process.env, clear));
  });
}

async function clear({ context, env, answer, report }: Session): Promise<number> {
  const configuration = await readConfiguration(context);
  const idp = configuredIdentityProvider(configuration.settings, context);
  const store = sealedCredentialStore(context);
  const left = (await store.listIdps()).filter((it) => !isSameClient(it, idp));
  const serverOf = accountServers(configuration);
  // That of the settings comes last: it may have the issuer of another client, whose sign-in it could not revoke.
  const clients = [...left, ...(idp ? [idp] : [])];
  const cleared = (await clearSignIns(clients, idp, { store, env })).map((it) => ({
    ...it,
    servers: it.servers.map((key) => serverOf(key)[0]),
  }));
  const own = cleared.at(-1);
  if (own === undefined) throw notConfigured();
  const others = cleared.slice(0, -1);
  removeSecret({ context, report });
  const path = pathOfScope(context, 'user');
  editDocument(path, () => [{ path: ['xaaIdp'], value: undefined }], editOptionsFor(context, path));
  await answer({
    document: { ...own, ...(others.length > 0 && { others }) },
    pieces: cleared.flatMap(({ issuer, removed, servers }) => [
      line(`${issuer}: ${removed ? 'the sign-in was removed' : 'there was no sign-in'}`),
      ...servers.map((server) => line(`  signed out of ${server}`)),
    ]),
  });
  return 0;
}
