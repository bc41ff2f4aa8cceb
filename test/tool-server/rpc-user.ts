import { Queue } from '../../src/base/async/queue.ts';
import type { RpcId, RpcMessage, RpcResponse } from '../../src/protocol/json-rpc.ts';
import type { McpSession, SessionPort } from '../../src/tool-server/session.ts';

/** The client of a session: sends requests and notifications, and records messages that the server initiates. */
export type RpcUser = {
  readonly session: McpSession;
  /** Messages that the server initiated, in order. */
  readonly received: RpcMessage[];
  /** Waits for the next message that the server initiates. */
  next(): Promise<RpcMessage>;
  ask(method: string, params?: object, id?: RpcId): Promise<RpcResponse | undefined>;
  tell(method: string, params?: object): Promise<RpcResponse | undefined>;
};

export function rpcUser(
  open: (port: SessionPort) => McpSession,
  port: Partial<Omit<SessionPort, 'send'>> = {},
): RpcUser {
  const received: RpcMessage[] = [];
  const queue = new Queue<RpcMessage>();
  const send = (message: RpcMessage) => {
    received.push(message);
    queue.push(message);
  };
  const session = open({ server: 'calc', assigns: {}, ...port, send });
  let nextId = 1;
  return {
    session,
    received,
    next: async () => (await queue.next()).value as RpcMessage,
    ask: async (method, params, id = nextId++) =>
      session.receive({ jsonrpc: '2.0', id, method, ...(params && { params }) }),
    tell: async (method, params) => session.receive({ jsonrpc: '2.0', method, ...(params && { params }) }),
  };
}
