import { createHash } from 'node:crypto';
import { appendFile, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../base/json-value.ts';
import { diffLines } from '../../../base/text/line-diff.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { RealFile } from './real-file.ts';

/** The content of a file at one time: the name of its stored copy, or null if there was no file. */
type FileState = { readonly copy: string; readonly mode: number } | null;

type Checkpoint = { readonly messageId: string; readonly files: Map<string, FileState> };

/** What restoring the files changes. */
export type RewoundFiles = {
  readonly filesChanged: readonly string[];
  /** How many lines the restored files gain and lose. */
  readonly insertions: number;
  readonly deletions: number;
  /** Files that were left alone because they are links now, or lead through one. */
  readonly skippedLinks: number;
  /** Why other files could not be read or restored. */
  readonly failures: readonly string[];
};

/** The file that lists the checkpoints, beside the copies. */
const INDEX = 'index.jsonl';

/**
 * The files that the file tools changed, as they were at each message of the user. A checkpoint has the state of every
 * file that was changed before it, and the state before its own first change of any other file. Changes by commands are
 * not known, but a rewind undoes them in files that a file tool changed too.
 */
export class FileCheckpoints {
  #directory: string | undefined;
  #checkpoints: Checkpoint[] = [];
  /** Copies of a session that stores nothing on disk. */
  readonly #copies = new Map<string, Buffer>();
  #loaded: Promise<void> | undefined;

  /** Without a directory everything is kept in memory. A directory that exists has the checkpoints of a resumed session. */
  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /** Forgets all checkpoints; further ones belong to another session. */
  restart(directory: string | undefined): void {
    this.#directory = directory;
    this.#checkpoints = [];
    this.#copies.clear();
    this.#loaded = Promise.resolve();
  }

  /** Starts the checkpoint of a message, with the current state of every file that was changed before. */
  async begin(messageId: string, signal: AbortSignal): Promise<void> {
    const [{ readReal }] = await Promise.all([import('./real-file.ts'), this.#load()]);
    const checkpoint: Checkpoint = { messageId, files: new Map() };
    for (const path of this.#tracked()) {
      const file = await readReal(path, signal).catch((): RealFile => ({ kind: 'refused', fault: '' }));
      if (file.kind !== 'refused') checkpoint.files.set(path, await this.#keep(file));
    }
    this.#checkpoints.push(checkpoint);
    await this.#write(checkpoint.messageId, [...checkpoint.files]);
  }

  /** Keeps the state of a file before it is changed, once per message. */
  async track(path: string, before: RealFile): Promise<void> {
    const current = this.#checkpoints.at(-1);
    if (!current || current.files.has(path) || before.kind === 'refused') return;
    const state = await this.#keep(before);
    current.files.set(path, state);
    await this.#write(current.messageId, [[path, state]]);
  }

  /** Restores all files as they were at a message; undefined if the message has no checkpoint. */
  async rewind(
    messageId: string,
    { isDryRun, signal }: { readonly isDryRun: boolean; readonly signal: AbortSignal },
  ): Promise<RewoundFiles | undefined> {
    const [{ readReal }] = await Promise.all([import('./real-file.ts'), this.#load()]);
    const at = this.#checkpoints.findLastIndex((it) => it.messageId === messageId);
    if (at === -1) return undefined;
    const filesChanged: string[] = [];
    const failures: string[] = [];
    let [insertions, deletions, skippedLinks] = [0, 0, 0];
    const rewindFile = async (path: string, target: FileState) => {
      const file = await readReal(path, signal);
      const now = file.kind === 'file' ? file.bytes : undefined;
      const then = target ? await this.#copyOf(target.copy) : undefined;
      if (file.kind !== 'refused' && isSame(now, then)) return;
      filesChanged.push(path);
      const counts = countLines(now, then);
      insertions += counts.insertions;
      deletions += counts.deletions;
      if (isDryRun) return;
      const isRestored = file.kind !== 'refused' && (await restore(path, then, target?.mode));
      if (!isRestored) skippedLinks++;
    };
    for (const path of this.#tracked()) {
      const target = this.#stateAt(at, path);
      // A file that cannot be restored does not prevent the others from being restored.
      if (target !== undefined)
        await rewindFile(path, target).catch((cause) => void failures.push(`${path}: ${messageOf(cause)}`));
    }
    return { filesChanged, insertions, deletions, skippedLinks, failures };
  }

  /** The changed files, in the order of their first change. */
  #tracked(): string[] {
    return [...new Set(this.#checkpoints.flatMap(({ files }) => [...files.keys()]))];
  }

  /**
   * The state of a file at a checkpoint. If only later checkpoints contain the file, it was unchanged until the first
   * of them.
   */
  #stateAt(at: number, path: string): FileState | undefined {
    return this.#checkpoints
      .slice(at)
      .find(({ files }) => files.has(path))
      ?.files.get(path);
  }

  async #keep(file: Exclude<RealFile, { kind: 'refused' }>): Promise<FileState> {
    if (file.kind === 'missing') return null;
    const copy = createHash('sha256').update(file.bytes).digest('hex');
    if (this.#directory === undefined) this.#copies.set(copy, file.bytes);
    else {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await writeFile(join(this.#directory, copy), file.bytes, { flag: 'wx', mode: 0o600 }).catch(
        unlessThere,
      );
    }
    return { copy, mode: file.mode };
  }

  async #copyOf(copy: string): Promise<Buffer> {
    const kept = this.#copies.get(copy);
    if (kept) return kept;
    if (this.#directory === undefined) throw new Error('the checkpoint copy of the file is missing');
    return readFile(join(this.#directory, copy));
  }

  async #write(messageId: string, files: readonly (readonly [string, FileState])[]): Promise<void> {
    if (this.#directory === undefined) return;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await appendFile(join(this.#directory, INDEX), `${JSON.stringify({ messageId, files })}\n`, {
      mode: 0o600,
    });
  }

  #load(): Promise<void> {
    this.#loaded ??= this.#readIndex();
    return this.#loaded;
  }

  async #readIndex(): Promise<void> {
    if (this.#directory === undefined) return;
    const text = await readFile(join(this.#directory, INDEX), 'utf8').catch(() => '');
    for (const { messageId, files } of text.split('\n').flatMap(parseLine)) {
      const last = this.#checkpoints.at(-1);
      if (last?.messageId === messageId) for (const [path, state] of files) last.files.set(path, state);
      else this.#checkpoints.push({ messageId, files: new Map(files) });
    }
  }
}

function parseLine(line: string): Checkpoint[] {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.messageId !== 'string' || !Array.isArray(value.files)) return [];
    return [{ messageId: value.messageId, files: new Map(value.files.flatMap(parseFile)) }];
  } catch {
    return [];
  }
}

/** The name of a copy becomes part of a path, so that only digests are accepted. */
function parseFile(value: unknown): [string, FileState][] {
  const [path, state]: unknown[] = Array.isArray(value) ? value : [];
  if (typeof path !== 'string') return [];
  if (state === null) return [[path, null]];
  if (!isRecord(state) || typeof state.copy !== 'string' || !/^[0-9a-f]{64}$/.test(state.copy)) return [];
  return [[path, { copy: state.copy, mode: typeof state.mode === 'number' ? state.mode : 0o644 }]];
}

function isSame(now: Buffer | undefined, then: Buffer | undefined): boolean {
  return now && then ? now.equals(then) : now === then;
}

/**
 * Restores a file; false if its path leads through a symbolic link, or if it has further hard links, which would change
 * too.
 */
async function restore(path: string, bytes: Buffer | undefined, mode: number | undefined): Promise<boolean> {
  const { replaceFile } = await import('./real-file.ts');
  const links = await lstat(path).then(
    ({ nlink }) => nlink,
    () => 1,
  );
  if (links > 1) return false;
  if (!bytes) await rm(path);
  else if (await replaceFile(path, bytes, mode === undefined ? {} : { mode })) return false;
  return true;
}

function countLines(now: Buffer | undefined, then: Buffer | undefined) {
  const lines = diffLines(now?.toString('utf8') ?? '', then?.toString('utf8') ?? '', 0).flatMap(
    (it) => it.lines,
  );
  return {
    insertions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
  };
}

function unlessThere(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'EEXIST') throw cause;
}
