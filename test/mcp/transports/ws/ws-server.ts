import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  McpServer,
  type Transport,
} from '../../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import * as z from '../../../../interop/node_modules/zod/index.js';

type Served = {
  /** Whether to accept a connection; by default all. */
  admits?: (headers: IncomingHttpHeaders) => boolean;
  tls?: ServerOptions;
  /** The kind of frames in which messages are sent. */
  frames?: 'text' | 'binary';
  /** The answer to a call of `act` with "shaped". */
  answer?: (id: unknown) => unknown;
};

/** A server of the official MCP SDK behind a WebSocket. Its tool `act` manipulates the socket as requested. */
export async function startWs({ admits = () => true, tls, frames = 'text', answer }: Served = {}) {
  const seen: { headers: IncomingHttpHeaders; protocol: string }[] = [];
  const sockets: WebSocket[] = [];
  const web = tls && createSecureServer(tls);
  const options = {
    verifyClient: ({ req }: { req: { headers: IncomingHttpHeaders } }) => admits(req.headers),
    autoPong: true,
  };
  const server = new WebSocketServer(
    web ? { ...options, server: web } : { ...options, port: 0, host: '127.0.0.1' },
  );
  server.on('connection', async (socket, { headers }) => {
    seen.push({ headers, protocol: socket.protocol });
    sockets.push(socket);
    await mcpServer(socket, answer).connect(transportOf(socket, frames));
  });
  await new Promise<void>((resolve) => {
    if (web) web.listen(0, '127.0.0.1', resolve);
    else server.once('listening', resolve);
  });
  const { port } = (web ?? server).address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}/`,
    seen,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
      if (web) await new Promise((resolve) => web.close(resolve));
    },
  };
}

function mcpServer(socket: WebSocket, answer: Served['answer']) {
  const gone = Promise.withResolvers<void>();
  const server = new McpServer({ name: 'socket', version: '1' });
  server.registerTool(
    'act',
    { inputSchema: z.object({ what: z.string() }) },
    async ({ what }, { mcpReq }) => {
      if (what === 'close') socket.close(4001, 'token=verysecret1 tired');
      if (what === 'terminate') socket.terminate();
      if (what === 'garbage') socket.send('no json');
      if (what === 'shaped') socket.send(JSON.stringify(answer?.(mcpReq.id)));
      if (what === 'wait') await gone.promise;
      if (what === 'go') gone.resolve();
      const text = 'x'.repeat(LENGTHS[what] ?? 0) || what;
      return { content: [{ type: 'text', text }] };
    },
  );
  return server;
}

const LENGTHS: Readonly<Record<string, number>> = { long: 5000, 'much too long': 17_000_000 };

function transportOf(socket: WebSocket, frames: 'text' | 'binary'): Transport {
  const transport: Transport = {
    async start() {
      socket.on('message', (data) => transport.onmessage?.(JSON.parse(String(data))));
      socket.on('close', () => transport.onclose?.());
    },
    async send(message: unknown) {
      const text = JSON.stringify(message);
      socket.send(frames === 'text' ? text : Buffer.from(text));
    },
    close: async () => socket.close(),
  };
  return transport;
}
