import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConnectOptions, VersionNegotiationOptions } from '@modelcontextprotocol/client';
import { isEqualJson, isRecord } from '../../base/json-value.ts';
import type { EraCache, KnownEra, ServerEntry } from './connect-context.ts';

/** The revision of the stateless protocol. */
const MODERN_VERSION = '2026-07-28';

/** How a server is asked for its era. */
type NegotiationPlan = {
  readonly negotiation: VersionNegotiationOptions;
  readonly prior?: NonNullable<ConnectOptions['prior']>;
};

/**
 * How long an answer to the protocol probe is waited for, which old servers may ignore. A process has to start first, and
 * a server behind an HTTP gateway may have to; a server that has opened a socket is running.
 */
const PROBE_MS = { process: 6000, network: 10_000, socket: 1000 } as const;

/**
 * An entry that says its era is believed. In-process servers and those of the older HTTP speak the older protocol. All
 * others are asked; a server that ignores the probe is spoken to as an older one, except one that has answered before.
 */
export function planNegotiation(
  entry: Pick<ServerEntry, 'type'> & { era?: 'auto' | 'legacy' | 'modern' },
  kind: 'process' | 'network',
  known: KnownEra | undefined,
  limitMs: number,
): NegotiationPlan {
  const era = entry.era ?? 'auto';
  if (era === 'modern') return { negotiation: { mode: { pin: MODERN_VERSION } } };
  const isOld = era === 'auto' && LEGACY_TYPES.has(entry.type);
  if (era === 'legacy' || isOld) return { negotiation: { mode: 'legacy' } };
  if (known?.era === 'legacy') return { negotiation: { mode: 'auto' }, prior: { kind: 'legacy' } };
  if (known?.era === 'modern') return { negotiation: { mode: 'auto' } };
  const probeMs = PROBE_MS[SOCKETS.has(entry.type) ? 'socket' : kind];
  return { negotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, limitMs / 3) } } };
}

const SOCKETS: ReadonlySet<string | undefined> = new Set(['ws', 'ws-ide']);

const LEGACY_TYPES: ReadonlySet<string | undefined> = new Set(['sdk', 'sse', 'sse-ide']);

/** The same for the same server, whatever credentials it is reached with; it tells nothing of what it is made of. */
export function eraKey(entry: ServerEntry, cwd: string | undefined): string | undefined {
  const parts =
    'command' in entry
      ? [entry.command, entry.args ?? [], entry.cwd ?? cwd ?? '']
      : 'url' in entry && entry.url !== undefined
        ? [entry.type, entry.url]
        : undefined;
  return parts && createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** A verdict and when it was found. */
type CachedEra = { readonly verdict: KnownEra; readonly at: number };

const MAX_ENTRIES = 500;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** Remembers eras as long as it lives: the newest 500, each for a week. `onChange` hears that there is something new. */
class MemoryEraCache implements EraCache {
  readonly #verdicts: Map<string, CachedEra>;
  readonly #now: () => number;
  readonly #onChange: () => void;

  constructor(
    now: () => number,
    known: Iterable<readonly [string, CachedEra]> = [],
    onChange: () => void = () => {},
  ) {
    this.#now = now;
    this.#verdicts = new Map(known);
    this.#onChange = onChange;
    this.#trim();
  }

  get entries(): ReadonlyMap<string, CachedEra> {
    return this.#verdicts;
  }

  recall(key: string): KnownEra | undefined {
    const found = this.#verdicts.get(key);
    return found && this.#now() - found.at < MAX_AGE_MS ? found.verdict : undefined;
  }

  /** A verdict that was known already is not dated anew: even a good one is asked for again in time. */
  remember(key: string, verdict: KnownEra | undefined): void {
    const known = this.recall(key);
    if (isEqualJson(known, verdict)) return;
    this.#verdicts.delete(key);
    if (verdict) this.#verdicts.set(key, { verdict, at: this.#now() });
    this.#trim();
    this.#onChange();
  }

  #trim(): void {
    for (const [key, { at }] of this.#verdicts) {
      if (this.#verdicts.size <= MAX_ENTRIES && this.#now() - at < MAX_AGE_MS) return;
      this.#verdicts.delete(key);
    }
  }
}

/** Eras for as long as the process runs. */
export function memoryEraCache(now: () => number = Date.now): EraCache {
  return new MemoryEraCache(now);
}

const FORMAT = 1;
const WRITE_AFTER_MS = 500;

/** Eras in a file that only its owner can read. One that cannot be read is empty, one that cannot be written is forgotten. */
export function fileEraCache(
  path: string,
  now: () => number = Date.now,
): EraCache & { flush(): Promise<void> } {
  let memory: MemoryEraCache | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => replace(path, opened().entries)).catch(() => {});
    return writing;
  };
  const opened = (): MemoryEraCache => {
    memory ??= new MemoryEraCache(now, read(path), () => {
      // Several changes are written together; the timer does not keep the process alive.
      timer ??= setTimeout(() => void write(), WRITE_AFTER_MS).unref();
    });
    return memory;
  };
  return {
    recall: (key) => opened().recall(key),
    remember: (key, verdict) => opened().remember(key, verdict),
    /** Writes now what is to be written. */
    flush: () => (timer ? write() : writing),
  };
}

async function replace(path: string, entries: ReadonlyMap<string, CachedEra>): Promise<void> {
  const text = JSON.stringify({ format: FORMAT, eras: Object.fromEntries(entries) });
  const next = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(next, text, { mode: 0o600, flag: 'wx' });
    await rename(next, path);
  } finally {
    await rm(next, { force: true });
  }
}

function read(path: string): [string, CachedEra][] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(value) || value.format !== FORMAT || !isRecord(value.eras)) return [];
    return Object.entries(value.eras).flatMap(([key, it]) => {
      if (!isRecord(it) || typeof it.at !== 'number') return [];
      const verdict = readVerdict(it.verdict);
      return verdict ? [[key, { verdict, at: it.at }]] : [];
    });
  } catch {
    return [];
  }
}

function readVerdict(value: unknown): KnownEra | undefined {
  if (!isRecord(value)) return undefined;
  if (value.era === 'legacy') return { era: 'legacy' };
  return value.era === 'modern' && isRecord(value.discover)
    ? { era: 'modern', discover: value.discover }
    : undefined;
}
