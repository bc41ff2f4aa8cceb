import { type WebSocket, WebSocketServer } from 'ws';
import { Listening } from './listening.ts';
import { ECHO, type Rpc, reply, type Tool } from './rpc.ts';

/** An MCP server over WebSocket, one session per socket. */
export class WsServer implements AsyncDisposable {
  readonly tools = new Map<string, Tool>([ECHO]);
  /** Handles a message instead; returns true if it did. */
  intercept: (message: Rpc, socket: WebSocket) => boolean = () => false;
  readonly sockets = new Set<WebSocket>();
  readonly listening = new Listening((_, response) => void response.writeHead(426).end());

  static async open(): Promise<WsServer> {
    const server = new WsServer();
    await server.listening.up();
    const upgrades = new WebSocketServer({ server: server.listening.raw, handleProtocols });
    upgrades.on('connection', (socket) => server.#serve(socket));
    return server;
  }

  get port(): number {
    return this.listening.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    await this.listening.down();
  }

  #serve(socket: WebSocket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('message', (data) => void this.#answer(socket, JSON.parse(String(data)) as Rpc));
  }

  async #answer(socket: WebSocket, message: Rpc): Promise<void> {
    if (this.intercept(message, socket)) return;
    const answer = await reply(message, this.tools);
    if (answer) socket.send(JSON.stringify(answer));
  }
}

function handleProtocols(offered: Set<string>): string | false {
  return offered.has('mcp') ? 'mcp' : false;
}
