import type { ConfigContext } from '../../config/config-context.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { entryVariables, expandEntry, type Lookup } from '../../config/expand/expand-entry.ts';
import { type Observed, serverRecord } from '../../config/explain/server-record.ts';
import type { ConfiguredServer } from '../../config/model.ts';
import { sealedCredentialStore } from '../../config/secrets/account-store.ts';
import { openSecretStore } from '../../config/secrets/secret-store.ts';
import { fetchConnectors } from '../../config/sources/fetch-connectors.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import type { HostTool } from '../../host/host-options.ts';
import type { AuthEntry, AuthStatus } from '../../mcp/auth/auth-types.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { McpFormat } from '../flags/flag-values.ts';
import { cliContext } from '../host/named-servers.ts';
import { type Connected, withHost } from '../host/with-host.ts';
import { errorDocument, formatFailure, UsageError } from '../output/failure.ts';
import { jsonDocument } from '../output/format.ts';
import { processOutput } from '../output/output.ts';
import { type Piece, render } from '../terminal/render.ts';

/** The context and output of a sub-command. */
export type Session = {
  readonly context: ConfigContext;
  readonly env: NodeJS.ProcessEnv;
  readonly format: McpFormat;
  /** Prints the result, as JSON or as text. */
  answer(answer: { readonly document: object; readonly pieces: readonly Piece[] }): Promise<void>;
  /** One line on stderr. */
  report(line: string): void;
};

/** Runs a sub-command; returns its exit code. A failure is reported on stderr and, with `--json`, as a document. */
export async function inSession(
  format: McpFormat,
  env: NodeJS.ProcessEnv,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const output = processOutput(env, () => {});
  let hasAnswered = false;
  const answer: Session['answer'] = async ({ document, pieces }) => {
    hasAnswered = true;
    if (format === 'json') await output.print(jsonDocument(document));
    else await printPieces(pieces, env);
  };
  try {
    return await work({ context: cliContext(env), env, format, answer, report: output.report });
  } catch (cause) {
    for (const line of formatFailure(cause)) output.report(line);
    if (format === 'json' && !hasAnswered) await output.print(jsonDocument(errorDocument(cause)));
    return cause instanceof UsageError ? 2 : 1;
  }
}

/** Prints to stdout, with colors on a terminal unless `NO_COLOR` is set. */
async function printPieces(pieces: readonly Piece[], env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = process;
  const hasColors = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const look = { columns: stdout.columns || 80, hasColors };
  const text = pieces.map((piece) => `${render(piece, look)}\n`).join('');
  await new Promise<void>((resolve) => stdout.write(text, () => resolve()));
}

/** Timeout for fetching connector catalogs. */
const LIMIT_MS = 5_000;

const CATALOG = {
  cached: 'using the cached catalog',
  'not-cached': 'no catalog is cached, so its servers are not available',
} as const;

/** The configuration with fresh connector catalogs, or cached ones if fetching fails. */
export async function freshConfiguration(
  { context, report }: Pick<Session, 'context' | 'report'>,
  wanted: ConfigFlags = {},
  catalogs: 'ask' | 'remember' = 'ask',
): Promise<Configuration> {
  const configuration = await readConfiguration(context, wanted);
  if (configuration.connectors.length === 0 || wanted.isStrict || catalogs === 'remember')
    return configuration;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const changed = await fetchConnectors(configuration, {
    signal,
    note: (text, cache) => report(cache === undefined ? text : `${text}; ${CATALOG[cache]}`),
  });
  if (signal.aborted)
    report(
      `some connectors did not respond within ${LIMIT_MS / 1000} s; their cached catalogs are used, if there are any`,
    );
  return changed ? readConfiguration(context, wanted) : configuration;
}

/** What is known about the server of a name: how its references resolve, and the result of connecting to it. */
export type Observe = (name: string) => Observed;

/** The host, and the servers that it connected or failed to connect. */
export type ConnectedServers = Connected & {
  readonly entries: Readonly<Record<string, ExternalServerEntry>>;
};

/** Connects those of the servers that can be started, runs `work`, and closes them; returns the exit code. */
export async function withObserved(
  { env, format, report }: Session,
  configuration: Configuration,
  servers: readonly ConfiguredServer[],
  work: (observe: Observe, connected?: ConnectedServers) => Promise<number>,
): Promise<number> {
  const lookup = createLookup(configuration);
  const ready = servers.filter(({ name }) => serverRecord(configuration, name, { lookup }).state === 'ready');
  if (ready.length === 0) {
    const auth = await authStatuses(configuration, lookup, report);
    return work((name) => ({ lookup, ...auth(name) }));
  }
  const entries = Object.fromEntries(ready.map(({ name, entry }) => [name, entry as ExternalServerEntry]));
  return withHost({ servers: entries, configuration, format }, env, async (connected) => {
    const statuses = new Map(Object.entries(connected.host.status()));
    const auth = await authStatuses(configuration, lookup, report);
    const observe: Observe = (name) => {
      const status = statuses.get(name);
      return { lookup, ...(status && { status }), ...auth(name, status) };
    };
    return work(observe, { ...connected, entries });
  });
}

/** How each remote server is authorized, by the stored accounts and the result of connecting. */
async function authStatuses(
  { context, merged }: Pick<Configuration, 'context' | 'merged'>,
  lookup: Lookup,
  report: Session['report'],
): Promise<(name: string, status?: ServerStatus) => { readonly auth?: AuthStatus }> {
  const remote = merged.servers.flatMap(({ name, entry, written }) => {
    const found = entry && remoteEntry(entry, written.scope === 'connector' ? undefined : lookup);
    return found ? [[name, found] as const] : [];
  });
  if (remote.length === 0) return () => ({});
  const { ServerAuth } = await import('../../mcp/auth/authorizer.ts');
  const found = new Map<string, AuthStatus>();
  try {
    const auth = new ServerAuth({ store: sealedCredentialStore(context), env: context.env });
    for (const [name, entry] of remote) found.set(name, await auth.status(name, entry));
  } catch (cause) {
    report(`cannot read the stored accounts: ${messageOf(cause)}`);
  }
  return (name, status) => {
    const auth = found.get(name);
    if (auth === undefined || status?.state !== 'needs-auth') return auth ? { auth } : {};
    return { auth: { ...auth, kind: auth.kind === 'none' ? 'oauth' : auth.kind, state: 'needs-auth' } };
  };
}

/** The members of a remote entry that decide how it is authorized; undefined if its address is not known. */
export function remoteEntry(entry: ExternalServerEntry, lookup: Lookup | undefined): AuthEntry | undefined {
  const expanded = lookup && expandEntry(entry, lookup);
  const found = expanded?.kind === 'expanded' ? expanded.entry : entry;
  const { type = 'http' } = found;
  if (!('url' in found) || !REMOTE.has(type) || !URL.canParse(found.url ?? '')) return undefined;
  return found as AuthEntry;
}

const REMOTE: ReadonlySet<string> = new Set(['http', 'sse', 'ws']);

/** The tools of the servers that are connected. */
export async function connectedTools(host: Connected['host']): Promise<HostTool[]> {
  const statuses = host.status();
  const tools = await host.listTools();
  return tools.filter(({ server }) => statuses[server]?.state === 'connected');
}

/** Resolves `${…}` as a run does: variables of the environment and of settings, and stored secrets. */
export function createLookup(configuration: Pick<Configuration, 'context' | 'settings'>): Lookup {
  const env = entryVariables(configuration);
  const store = openSecretStore(configuration.context);
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
