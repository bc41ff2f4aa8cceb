import type { Clock } from '../../base/async/timers.ts';
import { type AuthEntry, AuthError } from '../auth/auth-types.ts';
import { type connect, connectTimeoutOf } from '../connection/connect.ts';
import type { ConnectContext, ExpandedEntry, ServerEntry } from '../connection/connect-context.ts';
import type { Connection, ListKind } from '../connection/connection.ts';
import { SecretMask } from '../connection/secret-mask.ts';
import { HostError } from '../errors/host-error.ts';
import { withoutProjectPath } from '../transports/stdio/server-environment.ts';
import { type Listing, REFRESHED_LISTS, ServerLists } from './list-refresh.ts';
import { validateEntry } from './server-entry.ts';

type OpenDeps = {
  readonly connect: typeof connect;
  readonly context: ConnectContext;
  readonly clock: Clock;
  /** Called when the connection closes, at any time. */
  readonly onClose: (connection: Connection) => void;
};

/** A connected server with its first lists. */
export type OpenedServer = {
  readonly connection: Connection;
  readonly lists: ServerLists;
  readonly listing: Listing;
  /** What happened since the connection was made; call it once, after adding the listeners that take over. */
  since(): { readonly isClosed: boolean; readonly missed: ReadonlySet<ListKind> };
};

/**
 * Connects and lists within the connect timeout; if the server requires a sign-in and the host may ask for one, asks and
 * connects again. The sign-in is outside of the timeout. A rejected attempt leaves nothing open.
 */
export async function openServer(
  key: string,
  given: ServerEntry,
  deps: OpenDeps,
  signal: AbortSignal,
): Promise<OpenedServer> {
  const { context } = deps;
  const expanded = context.expand?.(key, given) ?? { entry: validateEntry(key, given), secrets: [] };
  for (let signIns = 0; ; signIns++) {
    try {
      return await openOnce(key, expanded, deps, signal);
    } catch (failure) {
      if (signal.aborted || signIns === MAX_SIGN_INS) throw failure;
      if (!(await signInAfter(failure, key, expanded.entry, context, signal))) throw failure;
    }
  }
}

/** Maximum number of sign-ins while connecting: one, and two for more scopes. */
const MAX_SIGN_INS = 3;

/** Asks a person to sign in after a request was refused. False if no sign-in is possible or needed. */
export async function signInAfter(
  failure: unknown,
  key: string,
  entry: ServerEntry,
  { auth }: Pick<ConnectContext, 'auth'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(failure instanceof HostError) || failure.code !== 'unauthorized' || failure instanceof AuthError)
    return false;
  if (!auth?.isInteractive || !('url' in entry) || entry.url === undefined) return false;
  const remote = entry as AuthEntry;
  const refusal = auth.authorizer(key, remote)?.unresolved;
  if (refusal === undefined) return false;
  await auth.signIn(key, remote, { signal, refusal });
  return true;
}

async function openOnce(
  key: string,
  expanded: ExpandedEntry,
  { connect, context, clock, onClose }: OpenDeps,
  signal: AbortSignal,
): Promise<OpenedServer> {
  const { entry } = expanded;
  const limitMs = connectTimeoutOf(entry, context);
  const tooLong = new AbortController();
  let connection: Connection | undefined;
  const stop = clock.after(limitMs, () => tooLong.abort());
  try {
    const secrets = new SecretMask(expanded.secrets, expanded.credentials);
    connection = await connect(key, entry, { ...placed(context, expanded), secrets }, signal);
    const since = watch(connection, onClose);
    const lists = new ServerLists(connection, clock);
    const listing = await lists.read(REFRESHED_LISTS, AbortSignal.any([signal, tooLong.signal]));
    return { connection, lists, listing, since };
  } catch (failure) {
    await connection?.close().catch(() => {});
    if (!connection || !tooLong.signal.aborted || signal.aborted)
      throw maskFailure(failure, expanded.secrets);
    const detail = `the server did not list its tools within ${limitMs} ms; raise "connectTimeoutMs" if the server is slow`;
    throw new HostError('timeout', key, detail, { cause: failure });
  } finally {
    stop();
  }
}

function placed(context: ConnectContext, { isolation }: ExpandedEntry): ConnectContext {
  return isolation
    ? { ...context, cwd: isolation.cwd, env: withoutProjectPath(context.env, isolation.project) }
    : context;
}

/** Records list changes and a close that happen during the first listing. */
function watch(connection: Connection, onClose: OpenDeps['onClose']): OpenedServer['since'] {
  let isClosed = false;
  const missed = new Set<ListKind>();
  const unlisten = connection.onListChanged((kind) => missed.add(kind));
  connection.onClose(() => {
    isClosed = true;
    onClose(connection);
  });
  return () => {
    unlisten();
    return { isClosed, missed };
  };
}

/** The same failure without secrets: a path or a command may contain one. */
function maskFailure(failure: unknown, values: readonly string[]): unknown {
  if (!(failure instanceof HostError) || failure instanceof AuthError || values.length === 0) return failure;
  const { code, server, detail, cause, isTerminal, hasRun, retryAfterMs, missingVariable } = failure;
  const masked = new SecretMask(values).mask(detail);
  if (masked === detail) return failure;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new HostError(code, server, masked, { cause, isTerminal, hasRun, missingVariable, ...more });
}
