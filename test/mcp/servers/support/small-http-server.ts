import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerEntry } from '../../../../src/mcp/connection/connect-context.ts';

/** A legacy server on loopback that can be stopped, be started again on the same port, and drop its sessions. */
export async function smallHttpServer() {
  const sessions = new Set<string>();
  let inits = 0;
  let http: Server;
  let port = 0;
  const results: Record<string, (params: { protocolVersion?: string }) => object> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'small', version: '1' },
    }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'hello' }] }),
    ping: () => ({}),
  };
  const start = async () => {
    http = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: object };
      const session = method === 'initialize' ? randomUUID() : String(request.headers['mcp-session-id']);
      if (method === 'initialize') {
        inits++;
        sessions.add(session);
      }
      if (!sessions.has(session)) return void response.writeHead(404).end('who?');
      if (id === undefined) return void response.writeHead(202).end();
      const result = results[method]?.(params);
      const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': session });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    ({ port } = http.address() as AddressInfo);
  };
  const stop = async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  await start();
  const entry: ServerEntry = { type: 'http', url: `http://127.0.0.1:${port}/mcp`, era: 'legacy' };
  return {
    entry,
    start,
    stop,
    /** Drops all sessions, as a restart does. */
    forget: () => sessions.clear(),
    inits: () => inits,
    [Symbol.asyncDispose]: () => stop().catch(() => {}),
  };
}
