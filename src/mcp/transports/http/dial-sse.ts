import type { Dialed } from '../../connection/dial.ts';
import type { ConnectWorld } from '../../connection/world.ts';
import { HttpFault } from './http-fault.ts';
import { type HttpEntry, openHttp } from './open-http.ts';
import { WatchedTransport } from './watched-transport.ts';

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
