import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createMcpHandler } from '../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import type { StdioServerEntry } from '../../../src/protocol/server-entry.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { makeModern } from './modern-tools.ts';
import { passOn } from './servers.ts';

/** A server of the stateless protocol over stdio. */
export const stdioModern: StdioServerEntry = {
  command: process.execPath,
  args: [fileURLToPath(new URL('modern-stdio.ts', import.meta.url))],
  env: COMPILE_CACHE,
};

type Heard = { method: string; name: string | undefined; headers: Record<string, unknown> };

/** A server of the stateless protocol over HTTP on loopback; `heard` has the received requests by method. */
export async function startModernHttp() {
  const handler = createMcpHandler(makeModern, { legacy: 'reject' });
  const heard: Heard[] = [];
  const streams = new Set<ServerResponse>();
  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method, params } = JSON.parse(body.toString() || '{}');
    heard.push({ method, name: params?.name, headers: incoming.headers });
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const headers = incoming.headers as Record<string, string>;
    const init = { method: incoming.method as string, headers, signal: gone.signal };
    const response = await handler.fetch(
      new Request(`http://127.0.0.1${incoming.url}`, body.length > 0 ? { ...init, body } : init),
    );
    if (method === 'subscriptions/listen') streams.add(outgoing);
    passOn(response, outgoing);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    heard,
    /** Notifies all listening clients that the tools have changed. */
    change: () => handler.notify.toolsChanged(),
    /** Closes the streams of all listening clients. */
    cut() {
      for (const stream of streams) stream.destroy();
      streams.clear();
    },
    async [Symbol.asyncDispose]() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
