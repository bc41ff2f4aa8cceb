import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { truncate } from './display-text.ts';

const RETURN = 13;
const SPACE = 32;

/**
 * Cuts a stream of text chunks into lines at `\n` only: JSON may hold U+2028, which `readline` also splits on.
 * A trailing `\r` is dropped, blank lines are skipped. A line longer than `maxLength` calls `onTooLong` once and is not delivered.
 */
export class LineSplitter {
  #partial = '';
  /** Whether the current line was already too long; the rest of it is dropped. */
  #isSkipping = false;
  readonly #maxLength: number;
  readonly #keepsEnds: boolean;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (length: number) => void;

  constructor(options: {
    maxLength: number;
    /** Deliver lines with their line end: a JSON parser ignores it, and removing it costs half as much as parsing. */
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
    // One more character may be the `\r` of the line end.
    if (this.#partial.length > this.#maxLength + 1) {
      this.#onTooLong(this.#partial.length);
      this.#partial = '';
      this.#isSkipping = true;
    }
  }

  /** Delivers the rest as a last line without a newline. */
  end(): void {
    const line = this.#partial;
    this.#partial = '';
    this.#deliver(line);
  }

  /** Fast path: most chunks are one short line. */
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

const NEWLINE = 10;

/**
 * Decodes chunks of UTF-8, joining characters that are split between chunks. A chunk that ends with a newline splits no
 * character, and nearly all chunks do, so those are decoded without the state of the decoder.
 */
export class LineText {
  readonly #decoder = new StringDecoder('utf8');
  #isBetweenLines = true;

  /** A string is returned unchanged. */
  write(chunk: Buffer | string): string {
    if (typeof chunk === 'string') return chunk;
    const wasBetween = this.#isBetweenLines;
    this.#isBetweenLines = chunk[chunk.length - 1] === NEWLINE;
    return wasBetween && this.#isBetweenLines ? chunk.toString() : this.#decoder.write(chunk);
  }

  /** The remainder of an incomplete character. */
  end(): string {
    return this.#decoder.end();
  }
}

const SETTLED = Promise.resolve();

/**
 * Writes lines to a stream in order. Lines of one turn of the event loop are written together;
 * the promise of a line settles once the stream has room again.
 */
export class LineWriter {
  readonly #stream: Writable;
  #pending = '';
  #flushed: PromiseWithResolvers<void> | undefined;
  #drained: PromiseWithResolvers<void> | undefined;
  #failure: Error | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => this.#fail(error));
    stream.on('close', () => this.#fail(new Error('the stream is closed')));
    const onRoom = () => {
      this.#drained?.resolve();
      this.#drained = undefined;
    };
    stream.on('drain', onRoom);
    stream.on('finish', onRoom);
  }

  /** Settles when the stream has room for more; undefined if it has room now. */
  get room(): Promise<void> | undefined {
    if (!this.#stream.writableNeedDrain || this.#failure) return undefined;
    this.#drained ??= handled(Promise.withResolvers<void>());
    return this.#drained.promise;
  }

  /** Need not be awaited: a failure is also reported by the next write. */
  write(line: string): Promise<void> {
    if (this.#failure) return handled(Promise.reject(this.#failure));
    this.post(line);
    this.#flushed ??= handled(Promise.withResolvers<void>());
    return this.#flushed.promise;
  }

  /** Writes a line without a promise. */
  post(line: string): void {
    if (this.#failure) return;
    // `queueMicrotask` would create an async resource each time.
    if (this.#pending === '') void SETTLED.then(this.#flush);
    this.#pending += `${line}\n`;
  }

  /** Writes pending lines, then ends the stream. Later lines are rejected here, since writing them would destroy the stream. */
  end(): void {
    this.#flush();
    if (this.#failure) return;
    this.#failure = new Error('the input has ended');
    this.#stream.end();
  }

  readonly #flush = (): void => {
    if (this.#pending === '') return;
    const text = this.#pending;
    const flushed = this.#flushed;
    this.#pending = '';
    this.#flushed = undefined;
    if (this.#failure) {
      flushed?.reject(this.#failure);
    } else if (this.#stream.write(text)) {
      flushed?.resolve();
    } else if (flushed) {
      this.#drained ??= handled(Promise.withResolvers<void>());
      this.#drained.promise.then(flushed.resolve, flushed.reject);
    }
  };

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#flushed?.reject(error);
    this.#drained?.reject(error);
    this.#flushed = undefined;
    this.#drained = undefined;
  }
}

function handled<T extends Promise<unknown> | { promise: Promise<unknown> }>(it: T): T {
  const promise = it instanceof Promise ? it : it.promise;
  promise.catch(() => {});
  return it;
}
/** Keeps the last `capacity` lines, each truncated to `width` characters. */
export class LineRing {
  readonly #capacity: number;
  readonly #width: number;
  #lines: string[] = [];

  constructor(capacity: number, width: number) {
    this.#capacity = capacity;
    this.#width = width;
  }

  push(line: string): void {
    this.#lines.push(truncate(line, this.#width));
    if (this.#lines.length > this.#capacity) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}
