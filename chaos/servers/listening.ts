import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A plain HTTP server on loopback that can stop and restart on the same port. */
export class Listening implements AsyncDisposable {
  readonly #serve: (request: IncomingMessage, response: ServerResponse) => void;
  #server: Server | undefined;
  #port = 0;

  constructor(serve: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#serve = serve;
  }

  get port(): number {
    return this.#port;
  }

  get raw(): Server {
    if (!this.#server) throw new Error('it does not listen');
    return this.#server;
  }

  /** Listens: first on a free port, later on the same one. */
  async up(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server = createServer((request, response) => {
      request.on('error', () => {});
      response.on('error', () => {});
      this.#serve(request, response);
    });
    this.#server.on('error', reject);
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops at once and closes every connection. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }
}

/** The body of a request, as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    // The client has closed the connection.
  }
  return Buffer.concat(chunks).toString();
}
