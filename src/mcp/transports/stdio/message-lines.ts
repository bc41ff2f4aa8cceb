import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INVALID_REQUEST, type RpcFailure, rpcFailure } from '../../../protocol/json-rpc.ts';
import type { ConnectContext } from '../../connection/connect-context.ts';
import { formatValue, normalizeMessage } from '../../connection/normalize-message.ts';
import type { Secrets } from '../../connection/secrets.ts';
import { ThrottledWarnings } from '../../connection/throttled-warnings.ts';
import { formatTooLarge, MessageScanner, tooLarge } from '../oversized-message.ts';
import { ByteLines } from './byte-lines.ts';

type MessageLinesOptions = {
  /** Maximum length of a message that is kept, in bytes. */
  maxBytes: number;
  onMessage(message: JSONRPCMessage): void;
  /** Sends this response to a request of the server that cannot be read. */
  onReply(reply: RpcFailure): void;
  /** With `fault`, `what` describes an invalid message; without it, `what` is output that is not a message. */
  onUnexpectedOutput(what: string, kind?: 'fault'): void;
};

/**
 * Parses messages from the output of a server, one per line. Of a message that is too large only the id is read: a
 * response fails its own request only.
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
        // The following lines are other responses.
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

/** Reports lines on stdout that are not JSON-RPC messages: as a warning, and as part of the server's last output. */
export function createStdoutWarnings(
  server: string,
  context: Pick<ConnectContext, 'onUnexpectedOutput'>,
  secrets: Secrets,
  note: (line: string) => void,
): ThrottledWarnings {
  return new ThrottledWarnings((output) => {
    // Some servers print the reason why they cannot start on stdout.
    note(`(stdout) ${output}`);
    const subject = { kind: 'stdout', output } as const;
    context.onUnexpectedOutput?.(server, `non-protocol output on stdout: ${output}`, subject);
  }, secrets);
}

/** Receives the content of a line. */
type MessageReader = {
  onMessage(message: JSONRPCMessage): void;
  /** Called for a line, or a part of it, that is not a message. */
  onUnexpectedOutput(text: string): void;
};

const BYTE_ORDER_MARK = 0xfeff;
const SPACE = 32;

/**
 * Parses one line: a message, a batch (2025-03-26), or other output; blank lines are ignored. JSON without a `jsonrpc`
 * member is other output, since log lines may be JSON too.
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

/** Undefined if the text is not a JSON object or list; most other output is recognized by its first character. */
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
