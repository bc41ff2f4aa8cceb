// A model endpoint in its own thread, so that its work is not measured. Every reply calls a tool, and the time from the
// end of a reply to the next request is recorded.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { parentPort, workerData } from 'node:worker_threads';
import { isSideRequest, parseMessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { wireEvents, wireMessage } from '../../test/support/model-api/messages-wire.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';

/** The number of tool calls before the final reply. */
const { rounds, tool } = workerData as { rounds: number; tool: string };

const gaps: number[] = [];
let replies = 0;
let repliedAt = Number.NaN;

const server = createServer(async (incoming, response) => {
  const arrivedAt = performance.now();
  const request = parseMessagesRequest(await readText(incoming));
  if (incoming.url?.includes('count_tokens') || !request) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":10}');
  } else if (isSideRequest(request)) {
    reply(response, request.model, 0, text('{"title":"Side request"}'));
  } else {
    gaps.push(arrivedAt - repliedAt);
    replies += 1;
    const content = replies > rounds ? text('Enough.') : toolUse(tool, { a: replies, b: 40 });
    reply(response, request.model, replies, content);
    repliedAt = performance.now();
  }
});

function reply(
  response: ServerResponse,
  model: string,
  n: number,
  { blocks }: ReturnType<typeof text>,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${n}` });
  const events = wireEvents(wireMessage(n, model, blocks), blocks);
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
parentPort?.once('message', () => {
  parentPort?.postMessage(gaps.slice(1));
  server.closeAllConnections();
  server.close();
});
