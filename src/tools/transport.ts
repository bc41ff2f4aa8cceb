import type { RpcMessage } from '../protocol/json-rpc.ts';
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

/** Puts a session behind a transport: what arrives is received, what is answered is sent. */
export async function serveTransport(
  open: (port: SessionPort) => McpSession,
  transport: Transport,
  server: string,
): Promise<void> {
  const send = (message: RpcMessage) => {
    transport.send(message).catch((error: Error) => transport.onerror?.(error));
  };
  const session = open({ server, assigns: {}, send });
  transport.onmessage = ((message: unknown) => {
    void session.receive(message).then((response) => response && send(response));
  }) as NonNullable<Transport['onmessage']>;
  transport.onclose = () => session.close();
  await transport.start();
}
