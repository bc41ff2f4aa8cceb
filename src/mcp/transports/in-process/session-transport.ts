import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { RpcMessage } from '../../../protocol/json-rpc.ts';
import type { McpSession } from '../../../tool-server/mcp-session.ts';

/** An MCP transport straight into a session of this process: nothing is written and read in between. */
export class SessionTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #open: (send: (message: RpcMessage) => void) => McpSession;
  #session: McpSession | undefined;
  #isClosed = false;

  constructor(open: (send: (message: RpcMessage) => void) => McpSession) {
    this.#open = open;
  }

  async start(): Promise<void> {
    this.#session = this.#open((message) => this.#receive(message));
  }

  /** Resolves at once: the answer comes as a message. */
  async send(message: JSONRPCMessage): Promise<void> {
    const session = this.#session;
    if (!session || this.#isClosed) throw new Error('the transport is closed');
    const answered = (answer: RpcMessage | undefined) => {
      if (answer) this.#receive(answer);
    };
    if (session.take) session.take(message, answered);
    else void session.receive(message).then(answered);
  }

  /** Ends our session; the server itself stays what it is for its other users. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session?.close();
    this.onclose?.();
  }

  /** Never within the call that brought it about: whoever sends is done with that first. */
  #receive(message: RpcMessage): void {
    queueMicrotask(() => {
      if (!this.#isClosed) this.onmessage?.(message as JSONRPCMessage);
    });
  }
}
