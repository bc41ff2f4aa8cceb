import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { isSideRequest, type MessagesRequest, parseMessagesRequest } from './messages-request.ts';
import { wireEvents, wireMessage } from './messages-wire.ts';
import { error, type Reply, text } from './model-reply.ts';

/** Replies in order, or a function of the request and its number (from 1). */
export type Script = readonly Reply[] | ((request: MessagesRequest, n: number) => Reply | Promise<Reply>);

/** A Messages API on loopback that replies from a script. */
export interface MessagesApi extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** The values of `anthropic-beta` of each request so far, side requests included. */
  readonly betas: readonly string[];
  /** The requests of the conversation so far; side requests are answered and not recorded. */
  readonly requests: readonly MessagesRequest[];
  /** The n-th request of the conversation (from 1), once it has arrived; rejects if the API closes first. */
  request(n: number): Promise<MessagesRequest>;
  /** Ends open connections too, so that a withheld reply keeps nothing alive. */
  close(): Promise<void>;
}

/** A request beyond the script is answered with status 400, which ends the client's turn. */
export async function startMessagesApi(script: Script): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const betas: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<MessagesRequest>>();

  const arrival = (n: number) => {
    const found = waiting.get(n) ?? Promise.withResolvers<MessagesRequest>();
    found.promise.catch(() => {});
    waiting.set(n, found);
    return found;
  };

  const reply = async (request: MessagesRequest): Promise<{ n: number; reply: Reply }> => {
    if (isSideRequest(request)) return { n: 0, reply: text('{"title":"Side request"}') };
    const n = requests.push(request);
    arrival(n).resolve(request);
    if (typeof script === 'function') return { n, reply: await script(request, n) };
    return { n, reply: script[n - 1] ?? error(400, `the script has no reply for request ${n}`) };
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const body = await readText(incoming);
    if (incoming.method !== 'POST') return sendError(response, 404, 'not_found_error', 'Not found');
    if (pathname === '/v1/messages/count_tokens') {
      return sendJson(response, 200, { input_tokens: Math.ceil(body.length / 4) });
    }
    if (pathname !== '/v1/messages') return sendError(response, 404, 'not_found_error', 'Not found');
    betas.push(String(incoming.headers['anthropic-beta'] ?? ''));
    const request = parseMessagesRequest(body);
    if (!request) return sendError(response, 400, 'invalid_request_error', 'Not a Messages request');
    const answer = await reply(request);
    await sendReply(response, request, answer.n, answer.reply);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      if (response.headersSent || response.destroyed) return response.destroy();
      sendError(response, 400, 'invalid_request_error', `the script threw: ${String(cause)}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const close = async () => {
    for (const { reject } of waiting.values()) reject(new Error('The Messages API closed'));
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    betas,
    requests,
    request: (n) => arrival(n).promise,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function sendReply(response: ServerResponse, request: MessagesRequest, n: number, reply: Reply) {
  if (reply.kind === 'after') {
    await reply.ready;
    return sendReply(response, request, n, reply.reply);
  }
  if (reply.kind === 'error') return sendError(response, reply.status, reply.type, reply.message);
  const { blocks, usage, stopReason } = reply.kind === 'cut' ? reply.reply : reply;
  const whole = wireMessage(n, request.model, blocks, usage);
  const message = stopReason === undefined ? whole : { ...whole, stop_reason: stopReason };
  if (request.stream !== true) return sendJson(response, 200, message);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${n}` });
  const events = wireEvents(message, blocks);
  for (const event of reply.kind === 'cut' ? events.slice(0, reply.events) : events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function sendError(response: ServerResponse, status: number, type: string, message: string) {
  sendJson(response, status, { type: 'error', error: { type, message } });
}

function sendJson(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
