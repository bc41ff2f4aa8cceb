import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createMcpHandler } from '../../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';
import { COMPILE_CACHE } from '../../../support/compile-cache.ts';
import { passOn } from '../../support/servers.ts';
import { makeLibrary } from '../fixtures/modern-library.ts';

/** The library server as a process. */
export const stdioLibrary: StdioServerEntry = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../fixtures/modern-stdio.ts', import.meta.url))],
  env: COMPILE_CACHE,
};

/** The library server over HTTP on loopback. */
export async function startLibrary() {
  const handler = createMcpHandler(() => makeLibrary((_, uri) => handler.notify.resourceUpdated(uri)), {
    legacy: 'reject',
  });
  /** The open subscription streams, each with the URIs of its resources. */
  const streams = new Map<ServerResponse, string[]>();
  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { params } = JSON.parse(body.toString() || '{}');
    const uris: string[] | undefined = params?.notifications?.resourceSubscriptions;
    if (uris) {
      streams.set(outgoing, uris);
      outgoing.once('close', () => streams.delete(outgoing));
    }
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const headers = incoming.headers as Record<string, string>;
    const init = { method: incoming.method as string, headers, signal: gone.signal };
    const url = `http://127.0.0.1${incoming.url}`;
    passOn(await handler.fetch(new Request(url, body.length > 0 ? { ...init, body } : init)), outgoing);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    entry: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` },
    streams: () => [...streams.values()],
    cut() {
      for (const stream of streams.keys()) stream.destroy();
    },
    async [Symbol.asyncDispose]() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
