import type { Writable } from 'node:stream';
import { faultOfInput, notConnected, notReading } from './input-fault.ts';

const DONE = Promise.resolve();

/**
 * Writes lines to a server in the order given: the first at once, since somebody waits for its answer, and those that
 * come in the same burst together after it. A promise settles once there is room for more; none needs to be awaited.
 * While more than `maxBacklog` bytes wait to be read, nothing is added to them.
 */
export class InputWriter {
  readonly #stream: Writable;
  readonly #maxBacklog: number;
  #burst: Promise<void> | undefined;
  #held = '';
  #room: PromiseWithResolvers<void> | undefined;
  #fault: Error | undefined;

  constructor(stream: Writable, maxBacklog = Number.POSITIVE_INFINITY) {
    this.#stream = stream;
    this.#maxBacklog = maxBacklog;
    stream.on('error', (error) => this.#fail(faultOfInput(error)));
    stream.on('close', () => this.#fail(notConnected()));
    stream.on('drain', () => {
      this.#room?.resolve();
      this.#room = undefined;
    });
  }

  write(line: string): Promise<void> {
    if (this.#burst === undefined) {
      const written = this.#put(`${line}\n`);
      this.#burst = DONE.then(this.#endBurst);
      return written;
    }
    // Nobody need look at the promise of a burst that only one line belongs to.
    if (this.#held === '') this.#burst.catch(() => {});
    this.#held += `${line}\n`;
    return this.#burst;
  }

  /** What was written before goes out first. */
  end(): void {
    void this.#endBurst();
    if (this.#fault) return;
    this.#fail(notConnected());
    this.#stream.end();
  }

  readonly #endBurst = (): Promise<void> => {
    this.#burst = undefined;
    if (this.#held === '') return DONE;
    const text = this.#held;
    this.#held = '';
    return this.#put(text);
  };

  #put(text: string): Promise<void> {
    if (this.#fault) return handled(Promise.reject(this.#fault));
    const backlog = this.#stream.writableLength;
    if (backlog > this.#maxBacklog) return handled(Promise.reject(notReading(backlog)));
    if (this.#stream.write(text)) return DONE;
    this.#room ??= Promise.withResolvers<void>();
    return handled(this.#room.promise);
  }

  #fail(fault: Error): void {
    this.#fault ??= fault;
    this.#room?.reject(this.#fault);
    this.#room = undefined;
  }
}

function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
