import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { SessionContents } from './read-transcript.ts';
import {
  findClaudeSession,
  isSessionId,
  type ProjectLocation,
  type SessionLocation,
  sessionPath,
} from './session-files.ts';
import {
  entryLine,
  type Header,
  type NewEntry,
  parseHeader,
  type SubAgentHeader,
  VERSION,
} from './transcript-entry.ts';

export type TranscriptOptions = SessionLocation & {
  /** The entry that the next one follows, if the session is resumed. */
  readonly after?: string | null;
  /** Entries of another transcript of the session, which are written before the first new one. */
  readonly beginning?: readonly NewEntry[];
  readonly forkedFrom?: string;
  /** The kind of program that starts the session. */
  readonly entrypoint?: string;
  /** The sub-agent whose conversation is stored; by default it is that of the session itself. */
  readonly agent?: SubAgentHeader;
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
    const path = sessionPath(options);
    const { agent } = options;
    this.path = agent ? join(path.replace(/\.jsonl$/, ''), 'subagents', `agent-${agent.id}.jsonl`) : path;
    this.#options = options;
    this.#lastUuid = options.after ?? null;
    this.#pending = (options.beginning ?? []).map((entry) => this.#line(entry)).join('');
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
    const { after: _, beginning: __, ...options } = this.#options;
    return new Transcript({ ...options, sessionId, forkedFrom: options.sessionId });
  }

  /** The transcript of a sub-agent, beside that of the session. The caller owns it. */
  forSubAgent(agent: SubAgentHeader): Transcript {
    const { after: _, beginning: __, ...options } = this.#options;
    return new Transcript({ ...options, agent });
  }

  /** Closes the file until the next entry is appended. */
  async suspend(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#reopen());
    await this.#writing;
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
      const lost = this.#options.agent
        ? 'The conversation of a sub-agent is not saved'
        : 'The session is not saved and cannot be resumed';
      this.#options.onUnwritable(
        `${lost}: ${this.path} cannot be written (${fault}). Check the owner of the folder and the free disk space.`,
      );
    }
  }

  /** The next write opens the file again. A session that was deleted while it runs continues in a new file. */
  async #reopen(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #header(): string {
    const { sessionId, cwd, forkedFrom, entrypoint, agent, now } = this.#options;
    const header: Header = {
      type: 'header',
      version: VERSION,
      sessionId,
      cwd,
      createdAt: now().toISOString(),
      ...(forkedFrom !== undefined && { forkedFrom }),
      ...(entrypoint !== undefined && { entrypoint }),
      ...(agent && { agent }),
    };
    return `${JSON.stringify(header)}\n`;
  }
}

async function writeAll(file: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/**
 * Creates a session that begins with the conversation of another one. Entries keep their ids, so that a message has the
 * same id in both. The caller owns the transcript.
 */
export function forkSession(
  from: SessionContents,
  options: Omit<TranscriptOptions, 'after' | 'forkedFrom'>,
): Transcript {
  const source = from.header?.sessionId;
  if (source === options.sessionId) throw new RangeError('Forking a session requires a new session id');
  const transcript = new Transcript({ ...options, ...(source !== undefined && { forkedFrom: source }) });
  const title = from.title === undefined ? [] : [{ type: 'meta' as const, title: from.title }];
  void transcript.append([...from.entries, ...title]);
  return transcript;
}

/** Maximum length of the header, which is the first line. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Maximum number of forks that are followed back to the original session. */
const MAX_FORKS = 20;

/** The files of the session that this one was forked from, of its origin, and so on, including deleted ones. */
export async function forkSources(
  forkedFrom: string | undefined,
  { claudeHome, ...place }: ProjectLocation,
): Promise<string[]> {
  const paths: string[] = [];
  let next = forkedFrom;
  while (next !== undefined && isSessionId(next) && paths.length < MAX_FORKS) {
    const path = sessionPath({ ...place, sessionId: next });
    if (paths.includes(path)) break;
    paths.push(path);
    const claude = await findClaudeSession(claudeHome, place.cwd, next);
    if (claude) paths.push(claude.path);
    next = await readForkedFrom(path);
  }
  return paths;
}

/** The session that a file was forked from; undefined if there is none or the file cannot be read. */
async function readForkedFrom(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return parseHeader(JSON.parse(line))?.forkedFrom;
  } catch {
    return undefined;
  }
}
