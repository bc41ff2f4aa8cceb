import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INVALID_REQUEST, type RpcFailure, rpcFailure } from '../../../protocol/json-rpc.ts';
import type { ConnectContext } from '../../connection/connect-context.ts';
import { formatValue, normalizeMessage } from '../../connection/normalize-message.ts';
import { ThrottledWarnings } from '../../connection/repeated-warnings.ts';
import type { SecretMask } from '../../connection/secret-mask.ts';
import { formatTooLarge, MessageScanner, tooLarge } from '../oversized-message.ts';

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
  secrets: SecretMask,
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
const NEWLINE = 10;
/** Smaller pieces are copied together, so that a line that arrives byte by byte does not become a list of bytes. */
const SMALL = 1024;
const BLOCK = 16 * 1024;

type ByteLinesOptions = {
  /** Maximum length of a line that is kept, in bytes. */
  maxBytes: number;
  onLine(text: string): void;
  /** Receives a longer line piece by piece; the line is not kept. */
  onLongPiece(bytes: Uint8Array): void;
  /** A longer line has ended after `bytes`. */
  onLongEnd(bytes: number): void;
};

/**
 * Splits a byte stream into lines at `\n` only. Lines are decoded as a whole, so that no character is split; invalid UTF-8
 * becomes replacement characters.
 */
export class ByteLines {
  readonly #options: ByteLinesOptions;
  #pieces: Buffer[] = [];
  /** The used length of the last piece if it is a block of small pieces, else undefined. */
  #blockUsed: number | undefined;
  /** Length of the current line. */
  #length = 0;
  #isLong = false;

  constructor(options: ByteLinesOptions) {
    this.#options = options;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      // Most chunks are one whole line.
      if (this.#length === 0 && at - from <= this.#options.maxBytes) {
        if (at > from) this.#options.onLine(chunk.toString('utf8', from, at));
      } else {
        this.#hold(chunk.subarray(from, at));
        this.end();
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(from === 0 ? chunk : chunk.subarray(from));
  }

  /** Ends the last line, which may lack its newline. */
  end(): void {
    const { onLine, onLongEnd } = this.#options;
    const length = this.#length;
    const isLong = this.#isLong;
    this.#length = 0;
    this.#isLong = false;
    const pieces = this.#takePieces();
    if (isLong) onLongEnd(length);
    else if (length > 0) onLine(Buffer.concat(pieces).toString());
  }

  #hold(bytes: Buffer): void {
    this.#length += bytes.length;
    if (!this.#isLong && this.#length > this.#options.maxBytes) {
      this.#isLong = true;
      for (const piece of this.#takePieces()) this.#options.onLongPiece(piece);
    }
    if (this.#isLong) this.#options.onLongPiece(bytes);
    else if (bytes.length > SMALL) {
      this.#closeBlock();
      this.#pieces.push(bytes);
    } else this.#copy(bytes);
  }

  #copy(bytes: Buffer): void {
    if (this.#blockUsed === undefined || this.#blockUsed + bytes.length > BLOCK) {
      this.#closeBlock();
      this.#pieces.push(Buffer.allocUnsafeSlow(BLOCK));
      this.#blockUsed = 0;
    }
    const block = this.#pieces.at(-1) as Buffer;
    bytes.copy(block, this.#blockUsed);
    this.#blockUsed += bytes.length;
  }

  #closeBlock(): void {
    const block = this.#pieces.at(-1);
    if (this.#blockUsed !== undefined && block) {
      this.#pieces[this.#pieces.length - 1] = block.subarray(0, this.#blockUsed);
    }
    this.#blockUsed = undefined;
  }

  #takePieces(): Buffer[] {
    this.#closeBlock();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}
