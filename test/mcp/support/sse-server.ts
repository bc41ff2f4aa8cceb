import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP+SSE server, or a web page; `heard` has the received requests. */
export async function startSseServer(kind: 'server' | 'page' = 'server') {
  const heard: string[] = [];
  let stream: ServerResponse | undefined;
  const http = createServer(async (incoming, outgoing) => {
    heard.push(`${incoming.method} ${incoming.url}`);
    if (kind === 'page')
      return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi</p>');
    if (incoming.method === 'GET') {
      stream = outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /message\n\n');
      return;
    }
    if (incoming.url !== '/message') return void outgoing.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    outgoing.writeHead(202).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return;
    const { protocolVersion } = params ?? {};
    const info = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } };
    const result = method === 'initialize' ? info : { content: [] };
    stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    heard,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
