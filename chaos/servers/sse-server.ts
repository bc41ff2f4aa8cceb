import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, Listening } from './listening.ts';
import { ECHO, type Rpc, reply, type Tool } from './rpc.ts';

/** A server of the HTTP+SSE transport: one event stream down, one POST per message up. */
export class SseServer implements AsyncDisposable {
  readonly tools = new Map<string, Tool>([ECHO]);
  readonly streams = new Map<string, ServerResponse>();
  /** Changes each response before it is sent. */
  bend: (answer: object, message: Rpc) => object = (answer) => answer;
  readonly listening = new Listening((request, response) => void this.#serve(request, response));

  static async open(): Promise<SseServer> {
    const server = new SseServer();
    await server.listening.up();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.listening.port}/sse`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.listening.down();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#listen(response);
    const url = new URL(request.url ?? '', 'http://localhost');
    const stream = this.streams.get(url.searchParams.get('session') ?? '');
    const message = JSON.parse((await bodyOf(request)) || '{}') as Rpc;
    response.writeHead(stream ? 202 : 404).end();
    const answer = stream && (await reply(message, this.tools));
    if (answer) stream.write(`event: message\ndata: ${JSON.stringify(this.bend(answer, message))}\n\n`);
  }

  #listen(response: ServerResponse): void {
    const session = randomUUID();
    this.streams.set(session, response);
    response.on('close', () => this.streams.delete(session));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /message?session=${session}\n\n`);
  }
}
