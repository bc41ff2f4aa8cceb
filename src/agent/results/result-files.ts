import { createHash, randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DEFAULT_MAX_TOKENS, type ResultLimit, resultLimit } from './result-limit.ts';

/** How a session treats large results: how much a model receives, and where the rest is stored. */
export type ResultKeeping = {
  readonly store: ResultStore;
  /** Limit of one result, unless its tool declares another. */
  readonly maxTokens: number;
  /** Whether a text beyond the limit is saved to a file; otherwise it is truncated. */
  readonly hasFiles: boolean;
  /** Whether the current permission rules allow the model to read stored files. */
  mayRead(): boolean;
};

/** How one agent's results are treated. */
export type ResultPolicy = ResultKeeping & {
  /** Whether the agent has a built-in tool; without `Read`, it could not use a file. */
  canUse(tool: string): boolean;
};

/** The origin and the limit of one result. */
export type ResultSource = ResultPolicy & {
  /** The tool's name as the model knows it. */
  readonly name: string;
  /** The server's key. */
  readonly server: string;
  readonly limit: ResultLimit;
};

export function keepResults(
  store: ResultStore,
  {
    maxTokens = DEFAULT_MAX_TOKENS,
    hasFiles = true,
    mayRead = () => true,
  }: Partial<Omit<ResultKeeping, 'store'>> = {},
): ResultKeeping {
  return { store, maxTokens, hasFiles, mayRead };
}

/** `meta` is the `_meta` of the tool's definition, which may set another limit. */
export function resultSource(
  policy: ResultPolicy,
  from: Pick<ResultSource, 'name' | 'server'>,
  meta?: Readonly<Record<string, unknown>>,
): ResultSource {
  const { name, server } = from;
  return { ...policy, name, server, limit: resultLimit(meta, policy.maxTokens) };
}

/**
 * The files of a session's results. Disposing waits for pending writes, rejects further ones, and removes the files of a
 * temporary store.
 */
export type ResultStore = AsyncDisposable & {
  /** Absolute, with symbolic links resolved as far as the path exists. */
  readonly directory: string;
  /** Saves bytes in a file readable by its owner only and returns its path; equal bytes are saved once. Rejects with the file system error. */
  save(bytes: Uint8Array, extension: string): Promise<string>;
};

/** The file for the output of a background task. */
export function taskOutputPath({ store }: Pick<ResultKeeping, 'store'>, taskId: string): string {
  return join(store.directory, `${taskId}.output`);
}

/** A store that outlives the session: beside the transcript, or in a configured directory. */
export function lastingStore(directory: string): ResultStore {
  return storeIn(realDirectory(directory), async () => {});
}

/** A store that is removed with the session, in a directory with a random name. */
export function temporaryStore(): ResultStore {
  const directory = join(realDirectory(tmpdir()), `toolplane-${randomUUID()}`);
  // Files that cannot be removed are left to the system's cleanup of temporary files.
  return storeIn(directory, () => rm(directory, { recursive: true, force: true }).catch(() => {}));
}

function storeIn(directory: string, remove: () => Promise<void>): ResultStore {
  const saving = new Set<Promise<string>>();
  let isOver = false;
  return {
    directory,
    async save(bytes, extension) {
      if (isOver) throw new Error('the session has ended');
      const saved = write(bytes, directory, extension);
      saving.add(saved);
      return saved.finally(() => saving.delete(saved));
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.allSettled(saving);
      await remove();
    },
  };
}

async function write(bytes: Uint8Array, directory: string, extension: string): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const path = join(directory, hash + extension);
  const unfinished = join(directory, `.${randomUUID()}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    await writeFile(unfinished, bytes, { mode: 0o600, flag: 'wx' });
    // Replaces an existing file, because a command may have changed it.
    await rename(unfinished, path);
  } catch (fault) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw fault;
  }
  return path;
}

/** Permissions compare paths as texts, so that symbolic links are resolved in the part that exists. */
export function realDirectory(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realDirectory(above), basename(path));
  }
}
