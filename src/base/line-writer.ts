import type { Writable } from 'node:stream';

const SETTLED = Promise.resolve();

/**
 * Writes lines to a stream in the order given. Lines that come in one burst leave in one write;
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

  /** Settles when the stream takes more; undefined if it does now. */
  get room(): Promise<void> | undefined {
    if (!this.#stream.writableNeedDrain || this.#failure) return undefined;
    this.#drained ??= handled(Promise.withResolvers<void>());
    return this.#drained.promise;
  }

  /** Never needs to be awaited: a failure is also kept, and met by the next write. */
  write(line: string): Promise<void> {
    if (this.#failure) return handled(Promise.reject(this.#failure));
    this.post(line);
    this.#flushed ??= handled(Promise.withResolvers<void>());
    return this.#flushed.promise;
  }

  /** The same without a promise. */
  post(line: string): void {
    if (this.#failure) return;
    // `queueMicrotask` would make a resource for tracing each time.
    if (this.#pending === '') void SETTLED.then(this.#flush);
    this.#pending += `${line}\n`;
  }

  /** What was written before goes out first; a line that comes later is refused here, since it would destroy the stream. */
  end(): void {
    this.#flush();
    if (this.#failure) return;
    this.#failure = new Error('the input was ended');
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
