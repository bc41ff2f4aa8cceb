// A server of 1,000 tools over HTTP. Each line on stdin is answered with its URL.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { longList } from './long-list.ts';

export type LongListUrl = { url: string };

const HEADERS = { 'content-type': 'application/json', 'mcp-session-id': 'long' };
const answer = longList();
const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    return;
  }
  const said = answer((await json(request)) as { id?: number; method?: string });
  if (said === undefined) response.writeHead(202).end();
  else response.writeHead(200, HEADERS).end(said);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
for await (const _ of createInterface(process.stdin))
  console.log(JSON.stringify({ url } satisfies LongListUrl));
process.exit(0);
