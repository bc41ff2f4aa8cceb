import { startTimer } from '../../../base/async/timers.ts';
import type { HttpServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { DirectPost } from './direct-post.ts';
import { HttpError } from './http-error.ts';
import { type HttpEntry, openHttp } from './open-http.ts';
import { reconnectingFetch } from './reconnecting-stream.ts';
import { TrackedTransport } from './tracked-transport.ts';

/** Timeout for ending the session at close. */
const SESSION_END_TIMEOUT_MS = 1000;

/** A response stream that broke off is resumed for about a minute. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 8,
};

/** Creates a Streamable HTTP transport. */
export async function dialHttp(
  name: string,
  entry: HttpServerEntry,
  context: ConnectContext,
): Promise<Dialed> {
  const watch = {
    onTooLong: (...dropped: Parameters<TrackedTransport['fail']>) => transport.fail(...dropped),
  };
  const { fetch, url, prepare, close } = await openHttp('streamable', name, entry, context, watch);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const direct = new DirectPost(url, fetch);
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: reconnectingFetch(direct.transportFetch, (error) => transport.fail(undefined, error as Error)),
    // Our own fetch allows fewer.
    redirectPolicy: 'follow',
    reconnectionOptions: RECONNECTION,
  });
  const transport = new TrackedTransport(direct.wrap(inner), { prepare });
  return {
    transport,
    async close() {
      const timer = startTimer(SESSION_END_TIMEOUT_MS, () => void inner.close());
      // The server may not support sessions, or be gone.
      await inner.terminateSession().catch(() => {});
      clearTimeout(timer);
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}

/** Creates a transport for HTTP with server-sent events. The connection ends with the stream. */
export async function dialSse(name: string, entry: HttpEntry, context: ConnectContext): Promise<Dialed> {
  let streamError: HttpError | undefined;
  const watch = {
    onTooLong: (...dropped: Parameters<TrackedTransport['fail']>) => transport.fail(...dropped),
    onStreamEnd(method: string, failure?: unknown) {
      if (method !== 'GET') return;
      // The official transport would open another stream, which does not belong to the handshake.
      streamError = new HttpError('the server ended the stream', {
        code: 'stream-ended',
        wasSent: true,
        cause: failure,
      });
      void transport.lose(streamError);
    },
  };
  const { fetch, url, prepare, close } = await openHttp('sse', name, entry, context, watch);
  const { SSEClientTransport } = await import('@modelcontextprotocol/client');
  const noted: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      if ((init?.method ?? 'GET') === 'GET' && error instanceof HttpError) streamError = error;
      throw error;
    }
  };
  const inner = new SSEClientTransport(url, { fetch: noted, redirectPolicy: 'follow' });
  // Events without a cause get the last error of the stream.
  const transport = new TrackedTransport(inner, { prepare, explain: () => streamError });
  return {
    transport,
    async close() {
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}
