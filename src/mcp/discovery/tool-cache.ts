import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateFile } from '../../base/files/replace-file.ts';
import { isRecord, sortedJson } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ConnectContext, ServerEntry, ToolCache } from '../connection/connect-context.ts';
import { eraKey } from '../connection/protocol-era.ts';
import { parseTool } from './list-entries.ts';
import type { Discovered } from './read-list.ts';

const FORMAT = 1;
const WRITE_AFTER_MS = 500;
/** Maximum size of one server's file; larger lists are not cached. */
const MAX_BYTES = 8 * 2 ** 20;
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** An unchanged file is rewritten after this time, so that it does not expire while in use. */
const FRESH_MS = 24 * 60 * 60 * 1000;

type Known = { readonly digest: string; readonly at: number };

/**
 * Caches tools on disk, one private file per server, with names, descriptions and schemas but without annotations:
 * those count only if the server itself sends them. Unreadable files count as absent; write errors are ignored.
 */
export function fileToolCache(
  directory: string,
  now: () => number = Date.now,
): ToolCache & { flush(): Promise<void> } {
  const pending = new Map<string, readonly ListedTool[]>();
  const known = new Map<string, Known>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isTidied = false;
  const writeAll = async (): Promise<void> => {
    const entries = [...pending];
    pending.clear();
    for (const [key, tools] of entries) {
      const written = await write(directory, key, tools, now(), known.get(key)).catch(() => undefined);
      if (written) known.set(key, written);
    }
    if (!isTidied && entries.length > 0) await tidy(directory, now()).catch(() => {});
    isTidied ||= entries.length > 0;
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size > 0) writing = writing.then(writeAll);
    return writing;
  };
  return {
    async recall(key) {
      const found = await read(directory, key, now()).catch(() => undefined);
      if (found) known.set(key, found.known);
      return found?.tools;
    },
    remember(key, tools) {
      pending.set(key, tools);
      // Several changes are written together; the timer does not keep the process alive.
      timer ??= setTimeout(() => void flush(), WRITE_AFTER_MS).unref();
    },
    /** Writes pending changes now. */
    flush,
  };
}

async function write(
  directory: string,
  key: string,
  tools: readonly ListedTool[],
  at: number,
  before: Known | undefined,
): Promise<Known | undefined> {
  const listed = JSON.stringify(tools.map(withoutClaims));
  const digest = digestOf(listed);
  if (before?.digest === digest && at - before.at < FRESH_MS) return before;
  const path = pathOf(directory, key);
  const text = `{"format":${FORMAT},"at":${at},"tools":${listed}}`;
  if (Buffer.byteLength(text) > MAX_BYTES) {
    await rm(path, { force: true });
    return undefined;
  }
  await writePrivateFile(path, text);
  return { digest, at };
}

async function read(
  directory: string,
  key: string,
  now: number,
): Promise<{ readonly tools: readonly ListedTool[]; readonly known: Known } | undefined> {
  const path = pathOf(directory, key);
  const { size } = await stat(path);
  if (size > MAX_BYTES) return undefined;
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (!isRecord(value) || value.format !== FORMAT || !Array.isArray(value.tools)) return undefined;
  const { at } = value;
  if (typeof at !== 'number' || at > now || now - at > MAX_AGE_MS) return undefined;
  const tools = new Map<string, ListedTool>();
  for (const it of value.tools as readonly unknown[]) {
    const entry = parseTool(it);
    if ('item' in entry) tools.set(entry.name, withoutClaims(entry.item));
  }
  return { tools: [...tools.values()], known: { digest: digestOf(JSON.stringify(value.tools)), at } };
}

/** The names of cache files and of their temporary files. */
const OWN = /^[0-9a-f]{64}\.json(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;

/** Removes files of servers not used for a month and leftovers of interrupted writes; other files stay. */
async function tidy(directory: string, now: number): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isFile() || !OWN.test(entry.name)) continue;
    const path = join(directory, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found && now - found.mtimeMs > MAX_AGE_MS) await rm(path, { force: true });
  }
}

function withoutClaims({ annotations: _, ...tool }: ListedTool): ListedTool {
  return tool;
}

/** The key is hashed, so that no key can lead to a path outside the directory. */
function pathOf(directory: string, key: string): string {
  return join(directory, `${digestOf(key)}.json`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The cached tools of one server. In-process servers are not cached: they list their tools without delay. */
export class RememberedTools {
  readonly #server: string;
  readonly #entry: ServerEntry;
  readonly #deps: RememberedToolsDeps;
  #key: string | undefined;
  #read: Promise<void> | undefined;

  constructor(server: string, entry: ServerEntry, deps: RememberedToolsDeps) {
    this.#server = server;
    this.#entry = entry;
    this.#deps = deps;
  }

  /** Settles when the cache has been read. */
  get read(): Promise<void> | undefined {
    return this.#read;
  }

  /** Reads the cache at the first connection attempt; later attempts already know newer tools. */
  recall(take: (tools: readonly ListedTool[]) => void): void {
    const { toolCache } = this.#deps;
    if (!toolCache) return;
    this.#key = cacheKey(this.#server, this.#entry, this.#deps);
    if (this.#key === undefined || this.#read !== undefined) return;
    this.#read = toolCache.recall(this.#key).then((tools) => {
      if (tools) take(tools);
    });
  }

  /** Incomplete lists are not cached. */
  remember({ items, failure }: Discovered<ListedTool>): void {
    if (this.#key !== undefined && failure === undefined) this.#deps.toolCache?.remember(this.#key, items);
  }
}

type RememberedToolsDeps = Pick<ConnectContext, 'toolCache' | 'cwd' | 'expand'>;

/**
 * A hash of the server's name, address and expanded credentials: a server may list different tools for different users.
 * Undefined for in-process servers, and for entries whose variables cannot be expanded; connecting reports that.
 */
function cacheKey(
  name: string,
  entry: ServerEntry,
  { cwd, expand }: RememberedToolsDeps,
): string | undefined {
  let expanded = entry;
  try {
    if (expand) expanded = expand(name, entry).entry;
  } catch {
    return undefined;
  }
  if (!isRecord(expanded) || expanded.type === 'sdk') return undefined;
  const server = eraKey(expanded, cwd);
  if (server === undefined) return undefined;
  const { headers, headersHelper, tls, env, authToken }: Record<string, unknown> = expanded;
  const credentials = { headers, headersHelper, tls, env, authToken };
  return createHash('sha256')
    .update(sortedJson([name, server, credentials]))
    .digest('base64url');
}
