import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INVALID_REQUEST, type RpcFailure, rpcFailure } from '../../../protocol/json-rpc.ts';
import { ByteLines } from './byte-lines.ts';
import { MessageScanner } from './message-scanner.ts';
import { readMessages } from './read-messages.ts';
import { sayTooLarge, tooLarge } from './too-large.ts';

export type MessageLinesOptions = {
  /** Longest message that is held, in bytes. */
  maxBytes: number;
  onMessage(message: JSONRPCMessage): void;
  /** A request of the server's that we cannot read wants this answer. */
  onReply(reply: RpcFailure): void;
  /** `fault`: `what` describes what is wrong with a message; without it `what` is the output that is no message. */
  onNoise(what: string, kind?: 'fault'): void;
};

/**
 * Takes messages from what a server writes, one a line. Of a message that is too long only the id is read: an answer
 * fails its own request, and no other.
 */
export function messageLines(options: MessageLinesOptions): ByteLines {
  const { maxBytes, onMessage, onReply, onNoise } = options;
  let scanner: MessageScanner | undefined;
  return new ByteLines({
    maxBytes,
    onLine(text) {
      try {
        readMessages(text, options);
      } catch {
        // The lines after it are others' answers.
        onNoise(text);
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
      if (answers.length === 0) onNoise(sayTooLarge(bytes, maxBytes), 'fault');
    },
  });
}
