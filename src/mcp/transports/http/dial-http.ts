import { startTimer } from '../../../base/async/timers.ts';
import type { HttpServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectWorld, Dialed } from '../../connection/connect-context.ts';
import { DirectPost } from './direct-post.ts';
import { HttpFault } from './http-error.ts';
import { type HttpEntry, openHttp } from './open-http.ts';
import { lastingFetch } from './reconnecting-stream.ts';
import { WatchedTransport } from './tracked-transport.ts';

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
  const direct = new DirectPost(url, fetch);
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: lastingFetch(direct.transportFetch, (fault) => transport.fail(undefined, fault as Error)),
    // Ours follows fewer.
    redirectPolicy: 'follow',
    reconnectionOptions: RECONNECTION,
  });
  const transport = new WatchedTransport(direct.wrap(inner), { prepare });
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

/** Reaches a server by the older HTTP with server-sent events. The end of the stream is the end of the connection. */
export async function dialSse(name: string, entry: HttpEntry, world: ConnectWorld): Promise<Dialed> {
  let streamFault: HttpFault | undefined;
  const watch = {
    onTooLong: (...dropped: Parameters<WatchedTransport['fail']>) => transport.fail(...dropped),
    onStreamEnd(method: string, failure?: unknown) {
      if (method !== 'GET') return;
      // The official transport opens another one, in which the server knows nothing of our handshake.
      streamFault = new HttpFault('it ended the stream', {
        code: 'stream-ended',
        wasSent: true,
        cause: failure,
      });
      void transport.lose(streamFault);
    },
  };
  const { fetch, url, prepare, close } = await openHttp('sse', name, entry, world, watch);
  const { SSEClientTransport } = await import('@modelcontextprotocol/client');
  const noted: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (fault) {
      if ((init?.method ?? 'GET') === 'GET' && fault instanceof HttpFault) streamFault = fault;
      throw fault;
    }
  };
  const inner = new SSEClientTransport(url, { fetch: noted, redirectPolicy: 'follow' });
  // Events that name no cause are made of what the stream itself met with.
  const transport = new WatchedTransport(inner, { prepare, explain: () => streamFault });
  return {
    transport,
    async close() {
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}
