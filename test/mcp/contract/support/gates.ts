import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { HostServerEntry } from '../../../../src/entry/host.ts';
import { bodyOf } from '../fixtures/listen.ts';
import { until } from './until.ts';

/** Servers that do not answer until the test admits them, and the number of servers that wait. */
export type Gates = AsyncDisposable & {
  /** The entry of a server. */
  entry(index: number): HostServerEntry;
  /** The number of servers that wait now. */
  waiting(): number;
  /** Lets the server that has waited longest answer. */
  admit(): void;
};

const GATE = fileURLToPath(new URL('../fixtures/gate-server.mjs', import.meta.url));

/** Such servers as processes. */
export async function localGates(): Promise<Gates> {
  const door: Socket[] = [];
  const all = new Set<Socket>();
  const server = createServer((socket) => {
    door.push(socket);
    all.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    entry: (index) => ({
      command: process.execPath,
      args: [GATE, String(port), String(index)],
      era: 'legacy',
    }),
    waiting: () => door.length,
    admit: () => void door.shift()?.write('come in'),
    async [Symbol.asyncDispose]() {
      for (const socket of all) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Such servers as URLs of one HTTP server. */
export async function remoteGates(): Promise<Gates> {
  const door: { path: string; open(): void }[] = [];
  const admitted = new Set<string>();
  const knocked = new Map<string, Promise<void>>();
  const knock = (path: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    door.push({ path, open: resolve });
    knocked.set(path, promise);
    return promise;
  };
  const http = createHttpServer(async (incoming, outgoing) => {
    const path = incoming.url ?? '/';
    const body = (await bodyOf(incoming)) as { id?: number; method?: string } | undefined;
    if (!admitted.has(path)) await (knocked.get(path) ?? knock(path));
    answer(body, outgoing);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    entry: (index) => ({ type: 'http', url: `http://127.0.0.1:${port}/${index}`, era: 'legacy' }),
    waiting: () => door.length,
    admit() {
      const first = door.shift();
      if (first) admitted.add(first.path);
      first?.open();
    },
    async [Symbol.asyncDispose]() {
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}

function answer(body: { id?: number; method?: string } | undefined, outgoing: ServerResponse): void {
  if (!body) return void outgoing.writeHead(405).end();
  if (body.id === undefined) return void outgoing.writeHead(202).end();
  const result =
    body.method === 'initialize'
      ? {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'gate', version: '1' },
        }
      : { tools: [] };
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
}

/** Admits one server after the other, each when no more can wait; returns the maximum number that waited at once. */
export async function admitAll(gates: Gates, { total, atOnce }: { total: number; atOnce: number }) {
  let most = 0;
  for (let left = total; left > 0; left--) {
    await until(
      () => gates.waiting() >= Math.min(atOnce, left),
      `${Math.min(atOnce, left)} wait at the door`,
    );
    most = Math.max(most, gates.waiting());
    gates.admit();
  }
  return most;
}
