import { type RpcMessage, unsendable } from '../protocol/json-rpc.ts';
import type { McpSession, SessionPort } from './mcp-session.ts';

/** The transport of the official MCP SDKs, versions 1 and 2, as far as both agree. */
export type Transport = {
  start(): Promise<void>;
  send(message: RpcMessage, options?: { relatedRequestId?: string | number }): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
};

/** Puts a session behind a transport: what arrives is received, what is answered is sent. Resolves once it is started. */
export async function serveTransport(
  open: (port: SessionPort) => McpSession,
  transport: Transport,
  server: string,
): Promise<void> {
  const send = async (message: RpcMessage): Promise<void> => {
    try {
      await transport.send(message);
    } catch (cause) {
      transport.onerror?.(cause as Error);
      if ('result' in message) await send(unsendable(message, cause));
    }
  };
  const session = open({ server, assigns: {}, send: (message) => void send(message) });
  transport.onmessage = ((message: unknown) => {
    void session.receive(message).then((response) => response && send(response));
  }) as NonNullable<Transport['onmessage']>;
  // Whoever owns the transport may listen for its end too.
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    session.close();
  };
  try {
    await transport.start();
  } catch (cause) {
    session.close();
    throw cause;
  }
}
