const NEWLINE = 10;
/** Smaller pieces are copied together, so that a line that arrives byte by byte does not become a list of bytes. */
const SMALL = 1024;
const BLOCK = 16 * 1024;

export type ByteLinesOptions = {
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
