import type { Readable, Writable } from 'node:stream';
import { startTimer } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { LineSplitter, LineWriter } from '../../base/text/lines.ts';
import {
  INVALID_REQUEST,
  PARSE_FAILED,
  type RpcId,
  type RpcMessage,
  readRpc,
  unsendable,
} from '../../protocol/json-rpc.ts';
import type { McpSession, SessionPort } from '../session.ts';

/** Maximum length of a message from a client, in characters. */
const MAX_MESSAGE = 64 * 1024 * 1024;

type StdioStreams = {
  input: Readable;
  output: Writable;
  onLog?: SessionPort['onLog'];
  /** How long calls may continue after the input has ended. */
  graceMs?: number;
};

/** Serves one MCP session on a pair of streams, one JSON-RPC message per line. Resolves when the input has ended and every answer is written. */
export async function serveStdio(
  open: (port: SessionPort) => McpSession,
  server: string,
  streams: StdioStreams,
): Promise<void> {
  const writer = new LineWriter(streams.output);
  let written = Promise.resolve();
  const write = (message: object) => {
    // A closed client is detected by the end of the input.
    written = writer.write(JSON.stringify(message)).catch(() => {});
  };
  const send = (message: RpcMessage) => {
    try {
      write(message);
    } catch (cause) {
      if ('result' in message) write(unsendable(message, cause));
    }
  };
  const notify = (message: RpcMessage) => {
    send(message);
    return writer.room;
  };
  const session = open({ server, assigns: {}, send: notify, ...(streams.onLog && { onLog: streams.onLog }) });
  const calls = new Set<Promise<void>>();
  const refuse = (message: string, code = PARSE_FAILED) =>
    write({ jsonrpc: '2.0', id: null, error: { code, message } });
  const splitter = new LineSplitter({
    maxLength: MAX_MESSAGE,
    onLine(line) {
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        refuse('the line is not JSON');
        return;
      }
      const fault = unanswerable(message);
      if (fault !== undefined) {
        refuse(fault, INVALID_REQUEST);
        return;
      }
      const call = session.receive(message).then((response) => {
        if (response) send(response);
        calls.delete(call);
      });
      calls.add(call);
    },
    onTooLong: (length) => refuse(`the line has ${length} characters; the maximum is ${MAX_MESSAGE}`),
  });
  streams.input.setEncoding('utf8');
  for await (const chunk of streams.input) splitter.write(chunk as string);
  splitter.end();
  // A client that pipes its requests in ends the input at once and still reads the answers, so calls get some time.
  const graceTimer = startTimer(streams.graceMs ?? 5_000, () => session.close());
  await Promise.all(calls);
  clearTimeout(graceTimer);
  session.close();
  await written;
}

/** The error of a malformed request that has no id to respond to; undefined for notifications and responses. */
function unanswerable(message: unknown): string | undefined {
  if (Array.isArray(message)) return 'batches are not supported: send one message per line';
  const read = readRpc(message);
  if (!isRecord(message)) return read.kind === 'malformed' ? read.reason : undefined;
  if ('result' in message || 'error' in message) return undefined;
  const isNotification = typeof message.method === 'string' && !('id' in message);
  if (read.kind === 'notification' && !isNotification) return 'an id must be a string or a whole number';
  return read.kind === 'malformed' && read.id === undefined && !isNotification ? read.reason : undefined;
}

/** The transport of the official MCP SDKs, versions 1 and 2, as far as both agree. */
export type Transport = {
  start(): Promise<void>;
  send(message: RpcMessage, options?: { relatedRequestId?: string | number }): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
};

/** Connects a session to a transport. Resolves when the transport has started. */
export async function serveTransport(
  open: (port: SessionPort) => McpSession,
  transport: Transport,
  server: string,
): Promise<void> {
  const send = async (message: RpcMessage, options?: { relatedRequestId?: RpcId }): Promise<void> => {
    try {
      await (options ? transport.send(message, options) : transport.send(message));
    } catch (cause) {
      transport.onerror?.(cause as Error);
      if ('result' in message) await send(unsendable(message, cause));
    }
  };
  const session = open({
    server,
    assigns: {},
    send: (message, { relatedRequestId } = {}) =>
      void send(message, relatedRequestId === undefined ? undefined : { relatedRequestId }),
  });
  transport.onmessage = ((message: unknown) => {
    void session.receive(message).then((response) => response && send(response));
  }) as NonNullable<Transport['onmessage']>;
  // The owner of the transport may have set its own handler.
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
