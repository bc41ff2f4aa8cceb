import { startTimer } from '../../../base/timer.ts';
import type { HttpServerEntry } from '../../../protocol/server-entry.ts';
import type { Dialed } from '../../connection/dial.ts';
import type { ConnectWorld } from '../../connection/world.ts';
import { lastingFetch } from './lasting-fetch.ts';
import { openHttp } from './open-http.ts';
import { WatchedTransport } from './watched-transport.ts';

/** How long a server may take to end our session before we leave anyway. */
const FAREWELL_MS = 1000;

/** A stream that was cut before it held the answer to its request is opened again for about a minute. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 8,
};

/** Reaches a server by streamable HTTP. */
export async function dialHttp(name: string, entry: HttpServerEntry, world: ConnectWorld): Promise<Dialed> {
  const watch = {
    onTooLong: (...dropped: Parameters<WatchedTransport['fail']>) => transport.fail(...dropped),
  };
  const { fetch, url, prepare, close } = await openHttp('streamable', name, entry, world, watch);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: lastingFetch(fetch, (fault) => transport.fail(undefined, fault as Error)),
    // Ours follows fewer.
    redirectPolicy: 'follow',
    reconnectionOptions: RECONNECTION,
  });
  const transport = new WatchedTransport(inner, { prepare });
  return {
    transport,
    async close() {
      const timer = startTimer(FAREWELL_MS, () => void inner.close());
      // A server that does not know of sessions, or is gone, is left all the same.
      await inner.terminateSession().catch(() => {});
      clearTimeout(timer);
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}
