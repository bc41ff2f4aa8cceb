import { StringDecoder } from 'node:string_decoder';

const NEWLINE = 10;

/**
 * Chunks of UTF-8 as text, characters that were cut in two put together. A chunk that ends with a line cuts none, and
 * nearly all do: those are turned into text without the decoder's bookkeeping.
 */
export class LineText {
  readonly #decoder = new StringDecoder('utf8');
  #isBetweenLines = true;

  /** A stream that already gives text is passed on. */
  write(chunk: Buffer | string): string {
    if (typeof chunk === 'string') return chunk;
    const wasBetween = this.#isBetweenLines;
    this.#isBetweenLines = chunk[chunk.length - 1] === NEWLINE;
    return wasBetween && this.#isBetweenLines ? chunk.toString() : this.#decoder.write(chunk);
  }

  /** What is left of a character that never ended. */
  end(): string {
    return this.#decoder.end();
  }
}
