import type { ConfigWorld } from '../../config/config-context.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import type { ConfiguredServer } from '../../config/model.ts';
import { refreshCatalogues } from '../../config/sources/refresh-connectors.ts';
import type { Wanted } from '../../config/sources/source-types.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { McpFormat } from '../flags/flag-values.ts';
import { cliWorld } from '../host/config-context.ts';
import { withHost } from '../host/with-host.ts';
import { errorDocument, NotUnderstood, sayFailure } from '../output/failure.ts';
import { jsonDocument } from '../output/format.ts';
import { processOutput } from '../output/output.ts';
import { type Piece, render } from '../terminal/render.ts';

/** Where a sub-command works and prints. */
export type Session = {
  readonly world: ConfigWorld;
  readonly env: NodeJS.ProcessEnv;
  readonly format: McpFormat;
  /** The answer: a document for programs, lines for people. */
  answer(answer: { readonly document: object; readonly pieces: readonly Piece[] }): Promise<void>;
  /** One line on stderr. */
  tell(line: string): void;
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
    return await work({ world: cliWorld(env), env, format, answer, tell: output.tell });
  } catch (cause) {
    for (const line of sayFailure(cause)) output.tell(line);
    if (format === 'json' && !hasAnswered) await output.print(jsonDocument(errorDocument(cause)));
    return cause instanceof NotUnderstood ? 2 : 1;
  }
}

/** Lines on stdout; colours only where a terminal shows them and nobody is against it. */
async function printPieces(pieces: readonly Piece[], env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = process;
  const colours = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const look = { columns: stdout.columns || 80, colours };
  const text = pieces.map((piece) => `${render(piece, look)}\n`).join('');
  await new Promise<void>((resolve) => stdout.write(text, () => resolve()));
}

/** Nobody who looks at a list waits longer for what others may have changed in it. */
const LIMIT_MS = 5_000;

/** What is configured, with what catalogues say now; of one that does not answer, with what it said last. */
export async function freshConfiguration(
  { world, tell }: Pick<Session, 'world' | 'tell'>,
  wanted: Wanted = {},
  catalogues: 'ask' | 'remember' = 'ask',
): Promise<Configuration> {
  const configuration = await readConfiguration(world, wanted);
  if (configuration.connectors.length === 0 || wanted.isStrict || catalogues === 'remember')
    return configuration;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const changed = await refreshCatalogues(configuration, {
    signal,
    note: (text) => tell(`${text}; what it said last counts`),
  });
  if (signal.aborted)
    tell(`not every catalogue answered within ${LIMIT_MS / 1000} s; what it said last counts`);
  return changed ? readConfiguration(world, wanted) : configuration;
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
  const entries = dialable(servers);
  if (Object.keys(entries).length === 0) return work({});
  return withHost({ servers: entries, configuration, format }, env, ({ host }) => work(host.status()));
}

/** The entries of the servers that may be started. */
export function dialable(servers: readonly ConfiguredServer[]): Record<string, ExternalServerEntry> {
  const ready = servers.flatMap(({ name, verdict, entry }) =>
    verdict.kind === 'ready' && entry !== undefined ? [[name, entry] as const] : [],
  );
  return Object.fromEntries(ready);
}
