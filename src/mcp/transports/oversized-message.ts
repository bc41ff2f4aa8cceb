import { INVALID_REQUEST, type RpcFailure, type RpcId, rpcFailure } from '../../protocol/json-rpc.ts';

/** The error code of the response that replaces one that was too large; no server uses it. */
export const TOO_LARGE = -31413;

/** Longest message accepted if neither the entry nor the host sets a limit. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

type FrameLimit = { readonly maxFrameBytes?: number | undefined };

/** The longest message accepted from a server, in bytes: the entry's limit, else the host's, else 16 MiB. */
export function maxFrameBytesOf(entry: FrameLimit, host: FrameLimit): number {
  return entry.maxFrameBytes ?? host.maxFrameBytes ?? MAX_FRAME_BYTES;
}

/** Fails the request whose response was too large; `data` contains its size and the limit. */
export function tooLarge(id: RpcId, bytes: number, limit: number): RpcFailure {
  return rpcFailure(id, TOO_LARGE, formatTooLarge(bytes, limit), { bytes, limit });
}

/** What failed and what to do, without the server's name. */
export function formatTooLarge(bytes: number, limit: number): string {
  return `the server sent a message of ${bytes} bytes, more than the limit of ${limit}; raise "maxFrameBytes" in its entry or return less from the tool`;
}

/** How to handle a message that is too large: the responses it contains, and the replies to its requests. */
export function readLongMessage(
  bytes: Uint8Array,
  limit: number,
): { answered: RpcId[]; refusals: RpcFailure[] } {
  const scanner = new MessageScanner();
  scanner.write(bytes);
  const answered: RpcId[] = [];
  const refusals: RpcFailure[] = [];
  for (const { id, hasMethod } of scanner.end()) {
    if (id === undefined) continue;
    if (!hasMethod) answered.push(id);
    else refusals.push(rpcFailure(id, INVALID_REQUEST, `The request is longer than ${limit} bytes`));
  }
  return { answered, refusals };
}

/** What is known about a message that was too large to keep. */
type ScannedMessage = { readonly id: RpcId | undefined; readonly hasMethod: boolean };

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;
/** Maximum length of a key that is read: `method` with each letter escaped, and quotes. */
const MAX_KEY_LENGTH = 38;
const MAX_ID_LENGTH = 1024;
/** Maximum number of ids reported for a batch. */
const MAX_MESSAGES = 1000;

/**
 * Finds the ids of a JSON-RPC message or batch in a stream of bytes, without keeping the rest. Input that is not JSON may
 * yield ids or none, but never throws.
 */
export class MessageScanner {
  readonly #messages: ScannedMessage[] = [];
  #depth = 0;
  /** The depth of message members: 1, 2 in a batch, 0 before the first byte. */
  #base = 0;
  #isInMessage = false;
  #isInString = false;
  #isEscaped = false;
  #expectsKey = false;
  #key: unknown;
  /** Raw bytes of the key or id that is being read. */
  #captured: number[] | undefined;
  #maxCaptured = 0;
  #id: RpcId | undefined;
  #hasMethod = false;

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      if (this.#isInString) {
        if (!this.#captured) at = this.#skip(bytes, at);
        if (at < bytes.length) this.#readInString(bytes[at] as number);
      } else {
        const byte = bytes[at] as number;
        if (byte > SPACE) this.#read(byte);
      }
    }
  }

  /** An unfinished message counts too, if its id came first. */
  end(): readonly ScannedMessage[] {
    if (this.#isInMessage && this.#id !== undefined) this.#endMessage();
    return this.#messages;
  }

  /** Takes the next byte of a relevant string. */
  #skip(bytes: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) return at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === BACKSLASH) break;
    }
    return at;
  }

  #readInString(byte: number): void {
    this.#capture(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#expectsKey && this.#isMember()) {
        this.#key = this.#takeCaptured();
        this.#expectsKey = false;
      }
    }
  }

  #read(byte: number): void {
    this.#base ||= byte === OPEN_OBJECT ? 1 : byte === OPEN_LIST ? 2 : Number.POSITIVE_INFINITY;
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        if (this.#expectsKey && this.#isMember()) this.#startCapture(MAX_KEY_LENGTH);
        this.#capture(byte);
        return;
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#captured = undefined;
        this.#depth++;
        if (byte === OPEN_OBJECT && this.#depth === this.#base) this.#startMessage();
        return;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (this.#isMember()) {
          this.#endValue();
          this.#endMessage();
        }
        this.#depth--;
        return;
      case COMMA:
        if (!this.#isMember()) return;
        this.#endValue();
        this.#expectsKey = true;
        return;
      case COLON:
        if (!this.#isMember()) return;
        if (this.#key === 'method') this.#hasMethod = true;
        if (this.#key !== 'id') return;
        // Of duplicate members the last one counts.
        this.#id = undefined;
        this.#startCapture(MAX_ID_LENGTH);
        return;
    }
    this.#capture(byte);
  }

  #isMember(): boolean {
    return this.#isInMessage && this.#depth === this.#base;
  }

  #startMessage(): void {
    this.#isInMessage = true;
    this.#expectsKey = true;
    this.#id = undefined;
    this.#hasMethod = false;
  }

  #endMessage(): void {
    this.#isInMessage = false;
    this.#expectsKey = false;
    if (this.#messages.length < MAX_MESSAGES) {
      this.#messages.push({ id: this.#id, hasMethod: this.#hasMethod });
    }
  }

  #endValue(): void {
    if (this.#captured) {
      const value = this.#takeCaptured();
      if (typeof value === 'string' || Number.isInteger(value)) this.#id = value as RpcId;
    }
    this.#key = undefined;
  }

  #startCapture(maxLength: number): void {
    this.#captured = [];
    this.#maxCaptured = maxLength;
  }

  /** A key or id that is too long is ignored. */
  #capture(byte: number): void {
    if (!this.#captured) return;
    if (this.#captured.length < this.#maxCaptured) this.#captured.push(byte);
    else this.#captured = undefined;
  }

  #takeCaptured(): unknown {
    const bytes = this.#captured;
    this.#captured = undefined;
    if (!bytes) return undefined;
    try {
      return JSON.parse(Buffer.from(bytes).toString());
    } catch {
      return undefined;
    }
  }
}
