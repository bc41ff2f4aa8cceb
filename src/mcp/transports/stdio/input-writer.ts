import type { Writable } from 'node:stream';
import { isRecord } from '../../../base/json-value.ts';

const DONE = Promise.resolve();
/** After this time without any read the server counts as not reading. */
const STALL_MS = 10_000;

/**
 * Writes lines to a server in order: the first at once, and those of the same burst together after it. The promise
 * settles once there is room for more, and need not be awaited. The queue is unlimited, except that replies are refused
 * once the server has read nothing for a while.
 */
export class InputWriter {
  readonly #stream: Writable;
  #burst: Promise<void> | undefined;
  #held = '';
  #room: PromiseWithResolvers<void> | undefined;
  #error: Error | undefined;
  /** Set while lines are queued. */
  #stall: NodeJS.Timeout | undefined;
  #isStalled = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => this.#fail(inputError(error)));
    stream.on('close', () => this.#fail(notConnected()));
    stream.on('drain', () => {
      this.#room?.resolve();
      this.#room = undefined;
    });
  }

  write(line: string): Promise<void> {
    if (this.#isStalled && isReply(line)) {
      return handled(Promise.reject(notReading(this.#stream.writableLength)));
    }
    if (this.#burst === undefined) {
      const written = this.#put(`${line}\n`);
      this.#burst = DONE.then(this.#endBurst);
      return written;
    }
    // The burst promise may stay unobserved.
    if (this.#held === '') this.#burst.catch(() => {});
    this.#held += `${line}\n`;
    return this.#burst;
  }

  /** Writes the queued lines first. */
  end(): void {
    void this.#endBurst();
    if (this.#error) return;
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
    if (this.#error) return handled(Promise.reject(this.#error));
    if (this.#stream.write(text, this.#onWritten)) return DONE;
    this.#stall ??= setTimeout(() => {
      this.#isStalled = true;
    }, STALL_MS).unref();
    this.#room ??= Promise.withResolvers<void>();
    return handled(this.#room.promise);
  }

  readonly #onWritten = (): void => {
    if (this.#stall === undefined) return;
    this.#isStalled = false;
    if (this.#stream.writableLength > 0) this.#stall.refresh();
    else this.#endWatch();
  };

  #endWatch(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#isStalled = false;
  }

  #fail(error: Error): void {
    this.#endWatch();
    this.#error ??= error;
    this.#room?.reject(this.#error);
    this.#room = undefined;
  }
}

/** Requests and notifications have a method, replies do not. Parsed only while the server does not read. */
function isReply(line: string): boolean {
  try {
    const message: unknown = JSON.parse(line);
    return isRecord(message) && !('method' in message);
  } catch {
    return false;
  }
}

function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
/** A write error; `code` is that of the system if there is one. */
export function inputError(failure: unknown): Error {
  const { code } = failure as NodeJS.ErrnoException;
  if (code === undefined || code.startsWith('ERR_STREAM')) return notConnected();
  const text = `the server no longer reads its input (${code})`;
  return Object.assign(new Error(text, { cause: failure }), { code });
}

/** The same code as that of the official client. */
export function notConnected(): Error {
  return Object.assign(new Error('the server process is not running'), {
    code: 'NOT_CONNECTED',
    wasSent: false,
  });
}

/** The process is running, but does not read what was sent before. */
function notReading(backlog: number): Error {
  return Object.assign(new Error(`the server does not read its input: ${backlog} bytes are pending`), {
    code: 'not-reading',
    wasSent: false,
  });
}
