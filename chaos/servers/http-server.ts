import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, Listening } from './listening.ts';
import { ECHO, type Rpc, reply, type Tool } from './rpc.ts';

/** One received request. */
export type Seen = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The JSON-RPC message, if it was one. */
  rpc: Rpc;
  /** When it arrived, by `performance.now()`. */
  at: number;
};

/** A Streamable HTTP server with sessions, of the legacy era, whose behaviour a fault can change. */
export class HttpServer implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly tools = new Map<string, Tool>([ECHO]);
  readonly sessions = new Set<string>();
  /** The open notification streams. */
  readonly streams = new Set<ServerResponse>();
  /** Handles a request instead; returns true if it did. */
  intercept: (seen: Seen, response: ServerResponse) => boolean = () => false;
  /** Answers a request in an unknown session. */
  refuseSession: (rpc: Rpc, response: ServerResponse) => void = (_, response) =>
    say(response, 404, fault('Session not found'));
  readonly listening = new Listening((request, response) => void this.#serve(request, response));

  static async open(): Promise<HttpServer> {
    const server = new HttpServer();
    await server.listening.up();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.listening.port}/mcp`;
  }

  /** The requests of one JSON-RPC method. */
  asked(method: string): Seen[] {
    return this.seen.filter(({ rpc }) => rpc.method === method);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.listening.down();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rpc: parse(await bodyOf(request)),
      at: performance.now(),
    };
    this.seen.push(seen);
    if (this.intercept(seen, response)) return;
    if (!seen.path.startsWith('/mcp')) return say(response, 404, { error: 'nothing here' });
    const session = request.headers['mcp-session-id'];
    if (seen.rpc.method === 'initialize') return this.#initialize(seen.rpc, response);
    if (typeof session !== 'string') return say(response, 400, fault('Bad Request: no session id'));
    if (!this.sessions.has(session)) return this.refuseSession(seen.rpc, response);
    if (seen.method === 'GET') return this.#listen(response);
    if (seen.method !== 'POST') return say(response, 200, {});
    const answer = await reply(seen.rpc, this.tools);
    if (answer) say(response, 200, answer);
    else response.writeHead(202).end();
  }

  async #initialize(rpc: Rpc, response: ServerResponse): Promise<void> {
    const session = randomUUID();
    this.sessions.add(session);
    response.setHeader('mcp-session-id', session);
    say(response, 200, (await reply(rpc, this.tools)) ?? {});
  }

  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': here\n\n');
    this.streams.add(response);
    response.on('close', () => this.streams.delete(response));
  }
}

/** Answers with JSON. */
export function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function fault(message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32000, message } };
}

function parse(body: string): Rpc {
  try {
    return (JSON.parse(body) ?? {}) as Rpc;
  } catch {
    return {};
  }
}
