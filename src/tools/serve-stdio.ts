import type { Readable, Writable } from 'node:stream';
import { LineWriter } from '../base/line-writer.ts';
import { LineSplitter } from '../base/lines.ts';
import { PARSE_FAILED, type RpcMessage } from '../protocol/json-rpc.ts';
import type { McpSession, SessionPort } from './mcp-session.ts';

/** Longest message a client may send, in characters. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Serves one MCP session on a pair of streams, one JSON-RPC message a line. Resolves when the input has ended and every call is answered. */
export async function serveStdio(
  open: (port: SessionPort) => McpSession,
  server: string,
  streams: { input: Readable; output: Writable; onLog?: SessionPort['onLog'] },
): Promise<void> {
  const writer = new LineWriter(streams.output);
  const send = (message: RpcMessage | object) => void writer.write(JSON.stringify(message)).catch(() => {});
  const session = open({ server, assigns: {}, send, ...(streams.onLog && { onLog: streams.onLog }) });
  const calls = new Set<Promise<void>>();
  const refuse = (message: string) =>
    send({ jsonrpc: '2.0', id: null, error: { code: PARSE_FAILED, message } });
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
  session.close();
  await Promise.all(calls);
}
