import { join } from 'node:path';
import type { ConfigContext } from '../../config/config-context.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { entryVariables, type Lookup } from '../../config/expand/expand-entry.ts';
import { type Observed, serverRecord } from '../../config/explain/server-record.ts';
import type { ConfiguredServer } from '../../config/model.ts';
import { fileSecretStore } from '../../config/secrets/secret-store.ts';
import { fetchConnectors } from '../../config/sources/fetch-connectors.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import type { HostTool } from '../../host/host-options.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { McpFormat } from '../flags/flag-values.ts';
import { cliContext } from '../host/config-context.ts';
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

/** Timeout for fetching connector catalogues. */
const LIMIT_MS = 5_000;

/** The configuration with fresh connector catalogues, or cached ones if fetching fails. */
export async function freshConfiguration(
  { context, report }: Pick<Session, 'context' | 'report'>,
  wanted: ConfigFlags = {},
  catalogues: 'ask' | 'remember' = 'ask',
): Promise<Configuration> {
  const configuration = await readConfiguration(context, wanted);
  if (configuration.connectors.length === 0 || wanted.isStrict || catalogues === 'remember')
    return configuration;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const changed = await fetchConnectors(configuration, {
    signal,
    note: (text) => report(`${text}; using the cached catalog`),
  });
  if (signal.aborted)
    report(`some connectors did not respond within ${LIMIT_MS / 1000} s; using their cached catalogs`);
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
  { env, format }: Session,
  configuration: Configuration,
  servers: readonly ConfiguredServer[],
  work: (observe: Observe, connected?: ConnectedServers) => Promise<number>,
): Promise<number> {
  const lookup = createLookup(configuration);
  const ready = servers.filter(({ name }) => serverRecord(configuration, name, { lookup }).state === 'ready');
  if (ready.length === 0) return work(() => ({ lookup }));
  const entries = Object.fromEntries(ready.map(({ name, entry }) => [name, entry as ExternalServerEntry]));
  return withHost({ servers: entries, configuration, format }, env, (connected) => {
    const statuses = new Map(Object.entries(connected.host.status()));
    const observe: Observe = (name) => {
      const status = statuses.get(name);
      return { lookup, ...(status && { status }) };
    };
    return work(observe, { ...connected, entries });
  });
}

/** The tools of the servers that are connected. */
export async function connectedTools(host: Connected['host']): Promise<HostTool[]> {
  const statuses = host.status();
  const tools = await host.listTools();
  return tools.filter(({ server }) => statuses[server]?.state === 'connected');
}

/** Resolves `${…}` as a run does: variables of the environment and of settings, and stored secrets. */
export function createLookup(configuration: Pick<Configuration, 'context' | 'settings'>): Lookup {
  const env = entryVariables(configuration);
  const store = fileSecretStore(join(configuration.context.home, 'secrets.json'));
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
