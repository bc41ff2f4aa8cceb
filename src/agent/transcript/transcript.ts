import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { SessionContents } from './read-transcript.ts';
import { type SessionLocation, sessionPath } from './session-files.ts';
import { entryLine, type Header, type NewEntry, VERSION } from './transcript-entry.ts';

export type TranscriptOptions = SessionLocation & {
  /** The entry that the next one follows, if the session is resumed. */
  readonly after?: string | null;
  readonly forkedFrom?: string;
  now(): Date;
  /** Called once if the file cannot be written: the session goes on and is not kept. */
  onUnwritable(message: string): void;
};

/**
 * One session's file, made at the first entry, readable by its owner only.
 *
 * What one `append` is given goes out in one write at the file's end (`O_APPEND`). On a local disk such writes of several
 * processes do not mix, so every line stays whole; over a network file system, or if a disk is full, lines may be torn,
 * and reading leaves those out. Nothing is forced to the disk: a machine that loses power may lose the newest lines.
 */
export class Transcript implements AsyncDisposable {
  readonly path: string;
  readonly #options: TranscriptOptions;
  #lastUuid: string | null;
  #pending = '';
  #writing: Promise<void> = Promise.resolve();
  #file: FileHandle | undefined;
  #isLost = false;

  /** Throws if the session's id is no UUID; touches no file. */
  constructor(options: TranscriptOptions) {
    this.path = sessionPath(options);
    this.#options = options;
    this.#lastUuid = options.after ?? null;
  }

  /** Settles once the entries are written, or will never be; does not reject. Entries come in the order of the calls. */
  append(entries: readonly NewEntry[]): Promise<void> {
    if (!this.#isLost) this.#pending += entries.map((entry) => this.#line(entry)).join('');
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    this.#isLost = true;
  }

  #line(entry: NewEntry): string {
    const { uuid = randomUUID(), timestamp = this.#options.now().toISOString() } = entry;
    const { sessionId } = this.#options;
    const line = entryLine({ ...entry, uuid, timestamp, sessionId, parentUuid: this.#lastUuid });
    // What is said about a session is no step of its conversation.
    if (entry.type !== 'meta') this.#lastUuid = uuid;
    return `${line}\n`;
  }

  async #write(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text === '' || this.#isLost) return;
    let isNew = false;
    try {
      if (this.#file) return await writeAll(this.#file, text);
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      this.#file = await open(this.path, 'a', 0o600);
      isNew = (await this.#file.stat()).size === 0;
      // The last line may be torn: a new one must not become its end.
      await writeAll(this.#file, isNew ? this.#header() + text : `\n${text}`);
    } catch (cause) {
      this.#isLost = true;
      // A session of which nothing could be written must not be offered for resuming.
      if (isNew) await rm(this.path, { force: true }).catch(() => {});
      const fault = messageOf(cause);
      this.#options.onUnwritable(
        `The session is not kept and cannot be resumed: ${this.path} cannot be written (${fault}); check the folder's owner and the room on its disk`,
      );
    }
  }

  #header(): string {
    const { sessionId, cwd, forkedFrom, now } = this.#options;
    const header: Header = {
      type: 'header',
      version: VERSION,
      sessionId,
      cwd,
      createdAt: now().toISOString(),
      ...(forkedFrom !== undefined && { forkedFrom }),
    };
    return `${JSON.stringify(header)}\n`;
  }
}

async function writeAll(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/**
 * A new session that begins with another's conversation; the other's file is only read. Entries keep their ids, so that
 * what names a message of the one finds it in the other. The caller owns the transcript.
 */
export function fork(
  from: SessionContents,
  options: Omit<TranscriptOptions, 'after' | 'forkedFrom'>,
): Transcript {
  const source = from.header?.sessionId;
  if (source === options.sessionId) throw new RangeError('A fork needs a session id of its own');
  const transcript = new Transcript({ ...options, ...(source !== undefined && { forkedFrom: source }) });
  const title = from.title === undefined ? [] : [{ type: 'meta' as const, title: from.title }];
  void transcript.append([...from.entries, ...title]);
  return transcript;
}
