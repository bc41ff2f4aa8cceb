import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One received request. */
export type Seen = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  message: { id?: number | string; method?: string; params?: { name?: string; arguments?: unknown } };
};

/** Answers a request in another way than a correct server would; false requests the correct answer. */
export type Twist = (seen: Seen, response: ServerResponse) => unknown;

/** A legacy server that answers in JSON, except for requests that `twist` answers. */
export async function startWeb(twist: Twist = () => false, tls?: ServerOptions) {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const message = text === '' ? {} : JSON.parse(text);
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, message };
    seen.push(one);
    if ((await twist(one, response)) === false) answer(one, response);
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/mcp`,
    seen,
    calls: () => seen.filter(({ message }) => message.method === 'tools/call'),
    connections: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The result of a correct server; a tool returns its arguments. */
export function resultOf({ message }: Seen): unknown {
  if (message.method !== 'initialize') {
    return { content: [{ type: 'text', text: JSON.stringify(message.params?.arguments ?? null) }] };
  }
  return {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'web', version: '1' },
  };
}

export function answer(seen: Seen, response: ServerResponse): void {
  if (seen.method !== 'POST') response.writeHead(405).end();
  else if (seen.message.id === undefined) response.writeHead(202).end();
  else sendJson(response, { jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) });
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** The beginning of a stream of events. */
export function openEvents(response: ServerResponse): (message: unknown) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  return (message) => response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}
