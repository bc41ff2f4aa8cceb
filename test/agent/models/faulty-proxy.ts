import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** What happens to one request on its way: passed on, answered here, or its answer cut or left hanging after some bytes. */
export type Mishap =
  | 'pass'
  | { status: number; body: string; headers?: Record<string, string> }
  | { cutAfter: number }
  | { endAfter: number }
  | { hangAfter: number };

/**
 * A proxy before an endpoint on loopback that applies one fault to each request, in order; further requests are passed
 * on.
 */
export async function startFaultyProxy(upstream: string, mishaps: readonly Mishap[]) {
  const headers: IncomingMessage['headers'][] = [];
  const gone = Promise.withResolvers<void>();
  const server = createServer((incoming, response) => {
    response.on('close', () => !response.writableFinished && gone.resolve());
    handle(incoming, response).catch(() => response.destroy());
  });
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await readText(incoming);
    const mishap = mishaps[headers.push(incoming.headers) - 1] ?? 'pass';
    if (mishap !== 'pass' && 'status' in mishap) {
      response.writeHead(mishap.status, mishap.headers).end(mishap.body);
      return;
    }
    const reply = await fetch(new URL(incoming.url ?? '/', upstream), { method: 'POST', body });
    const sent = await reply.text();
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
    if (mishap === 'pass') response.end(sent);
    else if ('endAfter' in mishap) response.end(sent.slice(0, mishap.endAfter));
    else if ('hangAfter' in mishap) response.write(sent.slice(0, mishap.hangAfter));
    else response.write(sent.slice(0, mishap.cutAfter), () => response.socket?.resetAndDestroy());
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers,
    /** Resolves once a client has disconnected before its answer was complete. */
    clientLeft: gone.promise,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
