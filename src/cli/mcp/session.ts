import type { ConfigContext } from '../../config/config-context.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import type { ConfiguredServer } from '../../config/model.ts';
import { refreshConnectors } from '../../config/sources/refresh-connectors.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { McpFormat } from '../flags/flag-values.ts';
import { cliContext } from '../host/config-context.ts';
import { withHost } from '../host/with-host.ts';
import { errorDocument, formatFailure, UsageError } from '../output/failure.ts';
import { jsonDocument } from '../output/format.ts';
import { processOutput } from '../output/output.ts';
import { type Piece, render } from '../terminal/render.ts';

/** Where a sub-command works and prints. */
export type Session = {
  readonly context: ConfigContext;
  readonly env: NodeJS.ProcessEnv;
  readonly format: McpFormat;
  /** The answer: a document for programs, lines for people. */
  answer(answer: { readonly document: object; readonly pieces: readonly Piece[] }): Promise<void>;
  /** One line on stderr. */
  report(line: string): void;
};

/** Does the work of a sub-command; gives its exit code. A failure is one line, and a document where one is wanted. */
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

/** Lines on stdout; colours only where a terminal shows them and nobody is against it. */
async function printPieces(pieces: readonly Piece[], env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = process;
  const hasColors = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const look = { columns: stdout.columns || 80, hasColors };
  const text = pieces.map((piece) => `${render(piece, look)}\n`).join('');
  await new Promise<void>((resolve) => stdout.write(text, () => resolve()));
}

/** Nobody who looks at a list waits longer for what others may have changed in it. */
const LIMIT_MS = 5_000;

/** What is configured, with what catalogues say now; of one that does not answer, with what it said last. */
export async function freshConfiguration(
  { context, report }: Pick<Session, 'context' | 'report'>,
  wanted: ConfigFlags = {},
  catalogues: 'ask' | 'remember' = 'ask',
): Promise<Configuration> {
  const configuration = await readConfiguration(context, wanted);
  if (configuration.connectors.length === 0 || wanted.isStrict || catalogues === 'remember')
    return configuration;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const changed = await refreshConnectors(configuration, {
    signal,
    note: (text) => report(`${text}; what it said last counts`),
  });
  if (signal.aborted)
    report(`not every catalogue answered within ${LIMIT_MS / 1000} s; what it said last counts`);
  return changed ? readConfiguration(context, wanted) : configuration;
}

/** How each server that was dialled is; one that is not ready is never in it. */
export type Statuses = Readonly<Record<string, ServerStatus>>;

/** Dials those of the servers that may be started, does the work, and ends them; gives the exit code. */
export async function withStatuses(
  { env, format }: Session,
  configuration: Configuration,
  servers: readonly ConfiguredServer[],
  work: (statuses: Statuses) => Promise<number>,
): Promise<number> {
  const entries = readyEntries(servers);
  if (Object.keys(entries).length === 0) return work({});
  return withHost({ servers: entries, configuration, format }, env, ({ host }) => work(host.status()));
}

/** The entries of the servers that may be started. */
export function readyEntries(servers: readonly ConfiguredServer[]): Record<string, ExternalServerEntry> {
  const ready = servers.flatMap(({ name, verdict, entry }) =>
    verdict.kind === 'ready' && entry !== undefined ? [[name, entry] as const] : [],
  );
  return Object.fromEntries(ready);
}
