// Minimal MCP servers over HTTP that respond with plain JSON, each on its own port. Argument: { count, delayMs, hung }
// as JSON: the number of servers, the delay of every response, and the number of additional servers that never respond.
// The first line on stdin is answered with their URLs, the hung ones first.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { answer, type Incoming } from './tiny-answers.ts';

export type TinyServers = { count: number; delayMs?: number; hung?: number };
export type TinyUrls = { urls: string[] };

const { count, delayMs = 0, hung = 0 } = JSON.parse(process.argv[2] ?? '{}') as TinyServers;
const HEADERS = { 'content-type': 'application/json', 'mcp-session-id': 'tiny' };

const servers = Array.from({ length: hung + count }, (_, index) =>
  createServer({ keepAliveTimeout: 60_000 }, index < hung ? () => {} : serve).listen(0, '127.0.0.1'),
);
const urls = await Promise.all(
  servers.map(async (server) => {
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }),
);
for await (const _ of createInterface(process.stdin))
  console.log(JSON.stringify({ urls } satisfies TinyUrls));
process.exit(0);

function serve(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    if (delayMs === 0) reply(request, response, body);
    else setTimeout(reply, delayMs, request, response, body);
  });
}

function reply({ method }: IncomingMessage, response: ServerResponse, body: string): void {
  if (method !== 'POST') {
    response.writeHead(method === 'DELETE' ? 200 : 405).end();
    return;
  }
  const text = answer(JSON.parse(body) as Incoming);
  if (text === undefined) response.writeHead(202).end();
  else response.writeHead(200, { ...HEADERS, 'content-length': text.length }).end(text);
}
