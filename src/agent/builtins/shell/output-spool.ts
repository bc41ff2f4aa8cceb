import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Output beyond this many characters is written to a file. */
export const MAX_OUTPUT = 30_000;
/** Maximum size of an output file; further output is dropped. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const DROPPED = '\n[further output was dropped: the file has its maximum size]\n';

/**
 * The output of a command: the first part in memory, all of it in a file once it is long or the command runs in the
 * background.
 */
export class OutputSpool {
  readonly path: string;
  readonly #onLine: ((line: string) => void) | undefined;
  #head = '';
  #length = 0;
  #bytes = 0;
  #partial = '';
  #pending = '';
  #file: FileHandle | undefined;
  #isSpooled = false;
  #writing: Promise<void> = Promise.resolve();
  #fault: unknown;

  /** `onLine` receives every complete line. */
  constructor(path: string, onLine?: (line: string) => void) {
    this.path = path;
    this.#onLine = onLine;
  }

  push(text: string): void {
    const room = MAX_OUTPUT - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    this.#length += text.length;
    if (this.#onLine) this.#split(text);
    if (this.#isSpooled) this.#write(text);
    else {
      this.#pending += text;
      if (this.#length > MAX_OUTPUT) this.spool();
    }
  }

  /** The first characters of the output. */
  get head(): string {
    return this.#head.toWellFormed();
  }

  /** How many characters the output has. */
  get length(): number {
    return this.#length;
  }

  /** Whether the file holds the whole output. */
  get isSpooled(): boolean {
    return this.#isSpooled && this.#fault === undefined;
  }

  /** From now on the file holds the whole output. */
  spool(): void {
    if (this.#isSpooled) return;
    this.#isSpooled = true;
    const text = this.#pending;
    this.#pending = '';
    this.#write(text);
  }

  /** Settles when everything is written. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    if (this.#onLine && this.#partial !== '') this.#onLine(this.#partial);
    this.#partial = '';
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  #write(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#bytes > MAX_FILE_BYTES) return;
    const isLast = this.#bytes + bytes > MAX_FILE_BYTES;
    this.#bytes += bytes;
    this.#writing = this.#writing
      .then(async () => {
        this.#file ??= await this.#open();
        await this.#file.write(isLast ? DROPPED : text);
      })
      .catch((cause) => {
        this.#fault ??= cause;
      });
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    return open(this.path, 'a', 0o600);
  }

  #split(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#onLine?.(line);
  }
}
