import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INVALID_REQUEST, type RpcFailure, rpcFailure } from '../../../protocol/json-rpc.ts';
import { formatValue, normalizeMessage } from '../../connection/normalize-message.ts';
import { formatTooLarge, MessageScanner, tooLarge } from '../oversized-message.ts';
import { ByteLines } from './byte-lines.ts';

type MessageLinesOptions = {
  /** Longest message that is held, in bytes. */
  maxBytes: number;
  onMessage(message: JSONRPCMessage): void;
  /** A request of the server's that we cannot read wants this answer. */
  onReply(reply: RpcFailure): void;
  /** `fault`: `what` describes what is wrong with a message; without it `what` is the output that is no message. */
  onUnexpectedOutput(what: string, kind?: 'fault'): void;
};

/**
 * Takes messages from what a server writes, one a line. Of a message that is too long only the id is read: an answer
 * fails its own request, and no other.
 */
export function messageLines(options: MessageLinesOptions): ByteLines {
  const { maxBytes, onMessage, onReply, onUnexpectedOutput } = options;
  let scanner: MessageScanner | undefined;
  return new ByteLines({
    maxBytes,
    onLine(text) {
      try {
        readMessages(text, options);
      } catch {
        // The lines after it are others' answers.
        onUnexpectedOutput(text);
      }
    },
    onLongPiece(bytes) {
      scanner ??= new MessageScanner();
      scanner.write(bytes);
    },
    onLongEnd(bytes) {
      const scanned = scanner?.end() ?? [];
      scanner = undefined;
      const answers = scanned.filter(({ id, hasMethod }) => id !== undefined && !hasMethod);
      for (const { id = 0 } of answers) onMessage(tooLarge(id, bytes, maxBytes) as JSONRPCMessage);
      for (const { id, hasMethod } of scanned) {
        if (hasMethod && id !== undefined) {
          onReply(rpcFailure(id, INVALID_REQUEST, `The request is longer than ${maxBytes} bytes`));
        }
      }
      if (answers.length === 0) onUnexpectedOutput(formatTooLarge(bytes, maxBytes), 'fault');
    },
  });
}

/** Who hears what a line held. */
type MessageReader = {
  onMessage(message: JSONRPCMessage): void;
  /** Part or all of the line is no message. */
  onUnexpectedOutput(text: string): void;
};

const BYTE_ORDER_MARK = 0xfeff;
const SPACE = 32;

/**
 * Reads one line: a message, a batch of them (2025-03-26), or noise; blank lines are nothing. A log line may be JSON
 * too: what does not say that it is JSON-RPC is noise.
 */
export function readMessages(line: string, reader: MessageReader): void {
  const text = line.charCodeAt(0) === BYTE_ORDER_MARK ? line.slice(1) : line;
  const value = parse(text);
  if (value === undefined) {
    if (text.trim() !== '') reader.onUnexpectedOutput(text);
    return;
  }
  for (const member of Array.isArray(value) ? value : [value]) {
    const message = normalizeMessage(member);
    if (message) reader.onMessage(message);
    else reader.onUnexpectedOutput(Array.isArray(value) ? formatValue(member) : text);
  }
}

/** Undefined is what is no JSON object or list; most noise is told by its first character, without a throw. */
function parse(text: string): unknown {
  let at = 0;
  while (text.charCodeAt(at) <= SPACE) at++;
  if (text[at] !== '{' && text[at] !== '[') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
