import type { Writable } from 'node:stream';

/**
 * Writes lines to a stream in the order given. Lines of one turn of the event loop leave in one write;
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

  /** Never needs to be awaited: a failure is also kept, and met by the next write. */
  write(line: string): Promise<void> {
    if (this.#failure) return handled(Promise.reject(this.#failure));
    this.#pending += `${line}\n`;
    if (!this.#flushed) {
      this.#flushed = Promise.withResolvers();
      void handled(this.#flushed.promise);
      process.nextTick(() => this.#flush());
    }
    return this.#flushed.promise;
  }

  /** What was written before goes out first; a line that comes later is refused here, since it would destroy the stream. */
  end(): void {
    this.#flush();
    if (this.#failure) return;
    this.#failure = new Error('the input was ended');
    this.#stream.end();
  }

  #flush(): void {
    const flushed = this.#flushed;
    if (!flushed) return;
    const text = this.#pending;
    this.#pending = '';
    this.#flushed = undefined;
    if (this.#failure) {
      flushed.reject(this.#failure);
    } else if (this.#stream.write(text)) {
      flushed.resolve();
    } else {
      this.#drained ??= Promise.withResolvers();
      this.#drained.promise.then(flushed.resolve, flushed.reject);
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#flushed?.reject(error);
    this.#drained?.reject(error);
    this.#flushed = undefined;
    this.#drained = undefined;
  }
}

function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
