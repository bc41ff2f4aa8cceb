import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type SessionLocation, sessionPath } from './session-files.ts';
import { entryLine, type Header, type NewEntry, VERSION } from './transcript-entry.ts';

export type TranscriptOptions = SessionLocation & {
  /** The entry that the next one follows, if the session is resumed. */
  readonly after?: string | null;
  readonly forkedFrom?: string;
  /** The kind of program that starts the session. */
  readonly entrypoint?: string;
  now(): Date;
  /** Called once if the file cannot be written; the session continues without a transcript. */
  onUnwritable(message: string): void;
};

/**
 * The transcript file of one session, created at the first entry, readable by its owner only.
 *
 * Each `append` is one write at the end of the file (`O_APPEND`). On a local disk, such writes of several processes do not
 * interleave; on a network file system or a full disk, lines may be truncated, and readers skip those. There is no fsync:
 * after a power loss the newest lines may be missing.
 */
export class Transcript implements AsyncDisposable {
  readonly path: string;
  readonly #options: TranscriptOptions;
  #lastUuid: string | null;
  #pending = '';
  #writing: Promise<void> = Promise.resolve();
  #file: FileHandle | undefined;
  #isClosed = false;

  /** Throws if the session id is not a UUID. Does not touch the file. */
  constructor(options: TranscriptOptions) {
    this.path = sessionPath(options);
    this.#options = options;
    this.#lastUuid = options.after ?? null;
  }

  /** Settles once the entries are written or writing has failed; never rejects. Entries are written in call order. */
  append(entries: readonly NewEntry[]): Promise<void> {
    if (!this.#isClosed) this.#pending += entries.map((entry) => this.#line(entry)).join('');
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Settles once everything appended so far is written, so that another process can resume the session. */
  flush(): Promise<void> {
    return this.append([]);
  }

  /** The transcript of a new session in the same folder. Its header names this session, whose folder holds earlier results. */
  successor(sessionId: string): Transcript {
    const { after: _, ...options } = this.#options;
    return new Transcript({ ...options, sessionId, forkedFrom: options.sessionId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    this.#isClosed = true;
  }

  #line(entry: NewEntry): string {
    const { uuid = randomUUID(), timestamp = this.#options.now().toISOString() } = entry;
    const { sessionId } = this.#options;
    const line = entryLine({ ...entry, uuid, timestamp, sessionId, parentUuid: this.#lastUuid });
    // Metadata is not a step of the conversation.
    if (entry.type !== 'meta') this.#lastUuid = uuid;
    return `${line}\n`;
  }

  async #write(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text === '' || this.#isClosed) return;
    let isNew = false;
    try {
      if (this.#file && (await this.#file.stat()).nlink === 0) await this.#reopen();
      if (this.#file) return await writeAll(this.#file, text);
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      this.#file = await open(this.path, 'a', 0o600);
      isNew = (await this.#file.stat()).size === 0;
      // The last line may be truncated: the new entry must start on its own line.
      await writeAll(this.#file, isNew ? this.#header() + text : `\n${text}`);
    } catch (cause) {
      this.#isClosed = true;
      // An empty session must not be offered for resuming.
      if (isNew) await rm(this.path, { force: true }).catch(() => {});
      const fault = messageOf(cause);
      this.#options.onUnwritable(
        `The session is not saved and cannot be resumed: ${this.path} cannot be written (${fault}). Check the owner of the folder and the free disk space.`,
      );
    }
  }

  /** A session that was deleted while it runs continues in a new file. */
  async #reopen(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #header(): string {
    const { sessionId, cwd, forkedFrom, entrypoint, now } = this.#options;
    const header: Header = {
      type: 'header',
      version: VERSION,
      sessionId,
      cwd,
      createdAt: now().toISOString(),
      ...(forkedFrom !== undefined && { forkedFrom }),
      ...(entrypoint !== undefined && { entrypoint }),
    };
    return `${JSON.stringify(header)}\n`;
  }
}

async function writeAll(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}
