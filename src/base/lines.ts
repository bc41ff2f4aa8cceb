const RETURN = 13;
const SPACE = 32;

/**
 * Cuts a stream of text chunks into lines at `\n` only: JSON may hold U+2028, which `readline` also splits on.
 * A trailing `\r` is dropped, blank lines are skipped. A line longer than `maxLength` calls `onTooLong` once and is not delivered.
 */
export class LineSplitter {
  #partial = '';
  /** Inside a line that was already too long: the rest of it is dropped as it comes. */
  #isSkipping = false;
  readonly #maxLength: number;
  readonly #keepsEnds: boolean;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (length: number) => void;

  constructor(options: {
    maxLength: number;
    /** Lines may come with their line end: who reads JSON does not mind, and cutting it off costs half as much as reading. */
    keepsEnds?: boolean;
    onLine: (line: string) => void;
    onTooLong: (length: number) => void;
  }) {
    this.#maxLength = options.maxLength;
    this.#keepsEnds = options.keepsEnds === true;
    this.#onLine = options.onLine;
    this.#onTooLong = options.onTooLong;
  }

  write(chunk: string): void {
    let from = 0;
    let at = chunk.indexOf('\n');
    if (at === chunk.length - 1 && this.#isWhole(chunk)) {
      this.#onLine(chunk);
      return;
    }
    for (; at !== -1; at = chunk.indexOf('\n', from)) {
      const piece = chunk.slice(from, at);
      from = at + 1;
      const line = this.#partial === '' ? piece : this.#partial + piece;
      this.#partial = '';
      if (!this.#isSkipping) this.#deliver(line);
      this.#isSkipping = false;
    }
    if (from === chunk.length || this.#isSkipping) return;
    this.#partial += from === 0 ? chunk : chunk.slice(from);
    // One more than allowed may be the `\r` of the line's end.
    if (this.#partial.length > this.#maxLength + 1) {
      this.#onTooLong(this.#partial.length);
      this.#partial = '';
      this.#isSkipping = true;
    }
  }

  /** The far end closed: what is left is a last line without a newline. */
  end(): void {
    const line = this.#partial;
    this.#partial = '';
    this.#deliver(line);
  }

  /** Most chunks are one short line, with nothing before it. */
  #isWhole(chunk: string): boolean {
    return (
      this.#keepsEnds &&
      this.#partial === '' &&
      !this.#isSkipping &&
      chunk.length <= this.#maxLength &&
      chunk.charCodeAt(0) > SPACE
    );
  }

  #deliver(raw: string): void {
    const line = raw.charCodeAt(raw.length - 1) === RETURN ? raw.slice(0, -1) : raw;
    if (line.length > this.#maxLength) this.#onTooLong(line.length);
    // Nearly every line begins with a brace: then it need not be searched for blanks.
    else if (line.charCodeAt(0) > SPACE || line.trim() !== '') this.#onLine(line);
  }
}
