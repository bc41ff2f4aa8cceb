import type { Readable, Writable } from 'node:stream';
import { isRecord } from '../base/is-record.ts';
import { LineWriter } from '../base/line-writer.ts';
import { LineSplitter } from '../base/lines.ts';
import { startTimer } from '../base/timer.ts';
import { INVALID_REQUEST, PARSE_FAILED, type RpcMessage, readRpc, unsendable } from '../protocol/json-rpc.ts';
import type { McpSession, SessionPort } from './mcp-session.ts';

/** Longest message a client may send, in characters. */
const MAX_MESSAGE = 64 * 1024 * 1024;

export type StdioStreams = {
  input: Readable;
  output: Writable;
  onLog?: SessionPort['onLog'];
  /** How long calls may go on after the input has ended. */
  graceMs?: number;
};

/** Serves one MCP session on a pair of streams, one JSON-RPC message a line. Resolves when the input has ended and every answer is written. */
export async function serveStdio(
  open: (port: SessionPort) => McpSession,
  server: string,
  streams: StdioStreams,
): Promise<void> {
  const writer = new LineWriter(streams.output);
  let written = Promise.resolve();
  const write = (message: object) => {
    // A client that has gone is noticed by the end of the input.
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
        refuse('the line is no JSON');
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
    onTooLong: (length) => refuse(`the line has ${length} characters; the most is ${MAX_MESSAGE}`),
  });
  streams.input.setEncoding('utf8');
  for await (const chunk of streams.input) splitter.write(chunk as string);
  splitter.end();
  // Who pipes its requests in closes at once and still wants the answers; who has gone is not waited for long.
  const patience = startTimer(streams.graceMs ?? 5_000, () => session.close());
  await Promise.all(calls);
  clearTimeout(patience);
  session.close();
  await written;
}

/** What is wrong with a message that wants an answer but has no id to answer to. Answers are never answered. */
function unanswerable(message: unknown): string | undefined {
  if (Array.isArray(message)) return 'batches are not served: send one message a line';
  const read = readRpc(message);
  if (!isRecord(message)) return read.kind === 'malformed' ? read.reason : undefined;
  if ('result' in message || 'error' in message) return undefined;
  const isNotification = typeof message.method === 'string' && !('id' in message);
  if (read.kind === 'notification' && !isNotification) return 'an id is a string or a whole number';
  return read.kind === 'malformed' && read.id === undefined && !isNotification ? read.reason : undefined;
}
