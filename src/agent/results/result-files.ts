import { createHash, randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DEFAULT_MAX_TOKENS, type ResultLimit, resultLimit } from './limit.ts';

/** What a session does with results: how much a model is given, and where the rest goes. */
export type ResultKeeping = {
  readonly store: ResultStore;
  /** Limit of one result, unless its tool declares another. */
  readonly maxTokens: number;
  /** Whether a text that is too long goes to a file; if not, it is cut. */
  readonly hasFiles: boolean;
  /** Whether the rules of the moment let a model read what is stored. */
  mayRead(): boolean;
};

/** The same for one agent. */
export type ResultPolicy = ResultKeeping & {
  /** Whether the agent has the built-in tool; without `Read`, a file would be no use to it. */
  canUse(tool: string): boolean;
};

/** Where one result comes from, and what becomes of what a model cannot take. */
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

/** `meta` is that of the tool's definition, which may ask for more room. */
export function resultSource(
  policy: ResultPolicy,
  from: Pick<ResultSource, 'name' | 'server'>,
  meta?: Readonly<Record<string, unknown>>,
): ResultSource {
  const { name, server } = from;
  return { ...policy, name, server, limit: resultLimit(meta, policy.maxTokens) };
}

/**
 * Where a session keeps what a model is not given whole. Disposing waits for what is being saved, lets nothing more be
 * saved, and removes it all if it was to last no longer.
 */
export type ResultStore = AsyncDisposable & {
  /** Absolute, and free of links as far as it exists. */
  readonly directory: string;
  /** Saves bytes in a file readable by its owner only and returns its path; equal bytes are saved once. Rejects with the file system error. */
  save(bytes: Uint8Array, extension: string): Promise<string>;
};

/** A store that outlives the session: beside the transcript, or in a configured directory. */
export function lastingStore(directory: string): ResultStore {
  return storeIn(realDirectory(directory), async () => {});
}

/** A store that is removed with the session, in a directory with a random name. */
export function temporaryStore(): ResultStore {
  const directory = join(realDirectory(tmpdir()), `toolplane-${randomUUID()}`);
  // What cannot be removed is for the system to clear away.
  return storeIn(directory, () => rm(directory, { recursive: true, force: true }).catch(() => {}));
}

function storeIn(directory: string, remove: () => Promise<void>): ResultStore {
  const saving = new Set<Promise<string>>();
  let isOver = false;
  return {
    directory,
    async save(bytes, extension) {
      if (isOver) throw new Error('the session is over');
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
    // Also over one that is there: a command may have changed that.
    await rename(unfinished, path);
  } catch (fault) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw fault;
  }
  return path;
}

/** Permissions compare paths as texts, so links are resolved in what there is of it. */
export function realDirectory(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realDirectory(above), basename(path));
  }
}
