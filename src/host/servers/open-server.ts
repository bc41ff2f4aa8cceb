import type { connect } from '../connect/connect.ts';
import type { Connection } from '../connect/connection.ts';
import { HostError } from '../connect/host-error.ts';
import type { ConnectWorld, ServerEntry } from '../connect/world.ts';
import { listPrompts } from '../discover/list-prompts.ts';
import { type DiscoveryDiagnostic, listTools } from '../discover/list-tools.ts';
import type { Clock } from './clock.ts';
import { usableEntry } from './read-entry.ts';
import type { Offer } from './server.ts';

/** What a server listed, and what of it cannot be offered. */
export type Listing = { readonly offer: Offer; readonly diagnostics: readonly DiscoveryDiagnostic[] };

type OpenWorld = {
  readonly connect: typeof connect;
  readonly world: ConnectWorld;
  readonly clock: Clock;
  /** Hears of the connection's end, whenever it comes. */
  readonly onClose: (connection: Connection) => void;
};

/** A server that was connected and listed. */
type Opened = {
  readonly connection: Connection;
  readonly listing: Listing;
  /** What happened to it since it was connected; asked once, by whoever listens to it from then on. */
  since(): { readonly isClosed: boolean; readonly isStale: boolean };
};

/** Connects and lists, both within the time one dial may take. When it rejects, nothing of the attempt is left. */
export async function openServer(
  key: string,
  given: ServerEntry,
  { connect, world, clock, onClose }: OpenWorld,
  signal: AbortSignal,
): Promise<Opened> {
  const entry = usableEntry(key, given);
  const limitMs =
    ('connectTimeoutMs' in entry ? entry.connectTimeoutMs : undefined) ?? world.connectTimeoutMs;
  const tooLong = new AbortController();
  let connection: Connection | undefined;
  const stop = clock.after(limitMs, () => tooLong.abort());
  try {
    connection = await connect(key, entry, world, signal);
    const since = watch(connection, onClose);
    const listing = await listAll(connection, AbortSignal.any([signal, tooLong.signal]));
    return { connection, listing, since };
  } catch (failure) {
    await connection?.close().catch(() => {});
    if (!connection || !tooLong.signal.aborted || signal.aborted) throw failure;
    const fault = `it did not list its tools within ${limitMs} ms; raise "connectTimeoutMs" if it is only slow`;
    throw new HostError('timeout', key, fault, { cause: failure });
  } finally {
    stop();
  }
}

/** What a server says while it is being listed is not to be missed. */
function watch(connection: Connection, onClose: OpenWorld['onClose']): Opened['since'] {
  let isClosed = false;
  let isStale = false;
  const unlisten = connection.onListChanged(() => {
    isStale = true;
  });
  connection.onClose(() => {
    isClosed = true;
    onClose(connection);
  });
  return () => {
    unlisten();
    return { isClosed, isStale };
  };
}

/** Everything it offers now. Rejects if it cannot list its tools; prompts are not worth that. */
export async function listAll(connection: Connection, signal: AbortSignal): Promise<Listing> {
  const [{ tools, diagnostics }, prompts] = await Promise.all([
    listTools(connection, { signal }),
    listPrompts(connection, signal),
  ]);
  return { offer: { tools, prompts }, diagnostics };
}
