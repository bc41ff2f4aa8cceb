import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { fileURLToPath } from 'node:url';
import {
  createMcpHandler,
  McpServer,
} from '../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import * as z from '../../../interop/node_modules/zod/index.js';
import type { ConnectContext, SdkPort } from '../../../src/mcp/connection/connect-context.ts';

import type { StdioServerEntry } from '../../../src/protocol/server-entry.ts';
import type { McpSession, SessionPort } from '../../../src/tool-server/session.ts';

/** A context whose environment has only `PATH` of this machine. */
export function testWorld(more: Partial<ConnectContext> = {}): ConnectContext {
  return {
    env: { PATH: process.env.PATH, HOME: '/nowhere', SECRET_TOKEN: 'hidden' },
    connectTimeoutMs: 15_000,
    clientInfo: { name: 'test', version: '1' },
    ...more,
  };
}

/** The reference server of the MCP project. */
export const everything: StdioServerEntry = {
  command: process.execPath,
  args: [
    fileURLToPath(
      new URL(
        '../../../interop/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
        import.meta.url,
      ),
    ),
    'stdio',
  ],
};

/** A process that runs a line of JavaScript. */
export function script(code: string): StdioServerEntry {
  return { command: process.execPath, args: ['-e', code] };
}

/** Sends a web `Response` to an HTTP response, part by part. */
export function passOn(response: Response, outgoing: ServerResponse): void {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
  if (response.body)
    Readable.fromWeb(response.body as ReadableStream)
      .on('error', () => {})
      .pipe(outgoing);
  else outgoing.end();
}

/** A Streamable HTTP server on loopback that requires this `Authorization` header. */
export async function startHttpServer(authorization: string) {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'web', version: '2' }, { instructions: 'Add with add.' });
    server.registerTool(
      'add',
      { inputSchema: z.object({ a: z.number(), b: z.number() }) },
      async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
    );
    return server;
  });
  const http = createServer(async (incoming, outgoing) => {
    if (incoming.headers.authorization !== authorization) {
      outgoing.writeHead(401).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const init = { method: incoming.method as string, headers: incoming.headers as Record<string, string> };
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const response = await handler.fetch(
      new Request(new URL(incoming.url ?? '/', url), { ...init, ...body }),
    );
    passOn(response, outgoing);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** The port to a server in this process, as a control channel offers it; `taken` has the cancelled messages. */
export function portTo(server: { open(port: SessionPort): McpSession }): SdkPort & { taken: unknown[] } {
  const listeners = new Set<(message: unknown) => void>();
  const session = server.open({
    server: 'calc',
    assigns: {},
    send: (message) => {
      for (const listener of listeners) listener(message);
    },
  });
  const taken: unknown[] = [];
  return {
    taken,
    async send(message, signal) {
      signal.addEventListener('abort', () => taken.push(message));
      // A notification is acknowledged with a placeholder response.
      return (await session.receive(message)) ?? { jsonrpc: '2.0', result: {}, id: 0 };
    },
    listen(receive) {
      listeners.add(receive);
      return () => listeners.delete(receive);
    },
  };
}
