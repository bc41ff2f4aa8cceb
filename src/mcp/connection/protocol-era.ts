import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectOptions, VersionNegotiationOptions } from '@modelcontextprotocol/client';
import { writePrivateFile } from '../../base/files/replace-file.ts';
import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { isRpcError, readFailure } from '../errors/classify-failure.ts';
import type { ConnectContext, EraCache, KnownEra, ServerEntry } from './connect-context.ts';
import type { Wire } from './wire.ts';

/** The revision of the stateless protocol. */
const MODERN_VERSION = '2026-07-28';

/** How the protocol version is negotiated. */
type NegotiationPlan = {
  readonly negotiation: VersionNegotiationOptions;
  readonly prior?: NonNullable<ConnectOptions['prior']>;
};

/**
 * Timeouts of the protocol probe, which legacy servers may ignore. A process has to start first, and a server behind an
 * HTTP gateway may have to; a server that has accepted a socket is running.
 */
const PROBE_MS = { process: 6000, network: 10_000, socket: 1000 } as const;

/**
 * Plans the version negotiation. An explicit `era` wins; in-process and SSE servers use the legacy protocol. All others
 * are probed, unless their era is known; a server that does not answer the probe is treated as legacy.
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

/** A hash of the command or URL, independent of credentials. */
export function eraKey(entry: ServerEntry, cwd: string | undefined): string | undefined {
  const parts =
    'command' in entry
      ? [entry.command, entry.args ?? [], entry.cwd ?? cwd ?? '']
      : 'url' in entry && entry.url !== undefined
        ? [entry.type, entry.url]
        : undefined;
  return parts && createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const LEGACY: KnownEra = { era: 'legacy' };

/** The protocol era that one connection attempt assumes of a server, and whether another era is worth a second try. */
export class EraChoice {
  readonly #entry: ServerEntry;
  readonly #context: ConnectContext;
  readonly #key: string | undefined;
  #known: KnownEra | undefined;
  #hasRetried = false;

  constructor(entry: ServerEntry, context: ConnectContext) {
    this.#entry = entry;
    this.#context = context;
    this.#key = eraKey(entry, context.cwd);
    if (this.#key === undefined) return;
    const skipsProbe = context.skipProbeOnce?.delete(this.#key) === true;
    this.#known = skipsProbe ? LEGACY : context.eraCache?.recall(this.#key);
  }

  /** The era that the server is known for; undefined if the server has to be probed. */
  get known(): KnownEra | undefined {
    return this.#known;
  }

  /** Remembers the era of a new connection. */
  connected(era: KnownEra['era'], wire: Pick<Wire, 'lateDiscovery'> | undefined): void {
    const late = wire?.lateDiscovery;
    if (late) this.#remember({ era: 'modern', discover: { supportedVersions: late.supportedVersions } });
    else this.#remember(era === 'modern' ? { era, discover: {} } : { era });
  }

  /** Whether to connect once more at once; `known` is another era then. */
  mayRetry(
    failure: unknown,
    wire: FailedAttempt['wire'],
    stderr: readonly string[],
    signal: AbortSignal,
  ): boolean {
    if (this.#hasRetried) return false;
    const verdict = eraForRetry({ failure, known: this.#known, wire });
    if (verdict === undefined) return false;
    const known = verdict === 'unknown' ? undefined : verdict;
    if (signal.aborted) {
      // No time is left for another try, but the next attempt starts with this era.
      this.#remember(known);
      return false;
    }
    if (!this.#isEraUnset()) return false;
    // The process reported why it could not start: that error is reported now, and the next attempt skips the probe.
    if (this.#key !== undefined && this.#context.skipProbeOnce && isStartFailure(stderr)) {
      this.#context.skipProbeOnce.add(this.#key);
      return false;
    }
    this.#known = known;
    this.#hasRetried = true;
    return true;
  }

  #remember(era: KnownEra | undefined): void {
    if (this.#key !== undefined) this.#context.eraCache?.remember(this.#key, era);
  }

  #isEraUnset(): boolean {
    const { era }: { era?: unknown } = 'era' in this.#entry ? this.#entry : {};
    return era === undefined || era === 'auto';
  }
}

/** A failed connection attempt. */
type FailedAttempt = {
  readonly failure: unknown;
  /** The era that was assumed. */
  readonly known: KnownEra | undefined;
  readonly wire: Pick<Wire, 'isProcessLike' | 'isProbeUnanswered' | 'lateDiscovery'> | undefined;
};

/** The era to assume in a second try; undefined if a second try would not help. */
export function eraForRetry({ failure, known, wire }: FailedAttempt): KnownEra | 'unknown' | undefined {
  if (known?.era === 'legacy') return isRefusal(failure) ? 'unknown' : undefined;
  // A remote server that ignores the probe may answer an older client.
  if (!wire?.isProcessLike) return wire?.isProbeUnanswered && isTimeout(failure) ? LEGACY : undefined;
  // The process started so slowly that it answered the probe after the probe's timeout.
  if (wire.lateDiscovery) return { era: 'modern', discover: wire.lateDiscovery };
  // The process crashed on the probe, or has not answered anything since.
  return wire.isProbeUnanswered ? LEGACY : undefined;
}

function isTimeout(failure: unknown): boolean {
  return readFailure(failure).code === 'REQUEST_TIMEOUT';
}

/**
 * Whether the stderr of a process that exited says that it could not start: it has output, and none of it is about a
 * message it received. Such a process is not restarted at once, since that would only delay the error report.
 */
export function isStartFailure(lines: readonly string[]): boolean {
  const reasons = lines.filter((line) => line.trim() !== '' && !ENDING.test(line));
  return reasons.length > 0 && !reasons.some((line) => AFTER_START.some((text) => text.test(line)));
}

/** The exit of the process, as the transport reports it. */
const ENDING = /^\((?:exited with code|ended by|it closed)\b.*\)$/;

/** Output of a server that is running, or that cannot handle a message. */
const AFTER_START: readonly RegExp[] = [
  /running|listening|serving|started|\bready\b|stdio|stdin/i,
  /discover|initiali[sz]ed|["'`]initialize|handshake|protocol|(?<![.\w])json|rpc|session|clientInfo|capabilit/i,
  /method|request|message|\bparams\b|dispatch|handler|receiv/i,
  /pars(?:e|ing)|serializ|marshal|decod/i,
  /unexpected|unrecogni[sz]|panick|of (?:undefined|null)\b|NoneType/i,
];

/** Whether the server answered, and rejected the request. */
function isRefusal(failure: unknown): boolean {
  if (isRpcError(failure)) return true;
  const { status = 0 } = readFailure(failure);
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

/** An era and when it was found. */
type CachedEra = { readonly verdict: KnownEra; readonly at: number };

const MAX_ENTRIES = 500;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** Keeps the newest 500 eras, each for a week. `onChange` is called after changes. */
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

  /** An unchanged era keeps its date, so that it expires and is probed again. */
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

/** Keeps eras for the lifetime of the process. */
export function memoryEraCache(now: () => number = Date.now): EraCache {
  return new MemoryEraCache(now);
}

const FORMAT = 1;
const WRITE_AFTER_MS = 500;

/** Keeps eras in a private file. An unreadable file counts as empty; write errors are ignored. */
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
    writing = writing.then(() => writePrivateFile(path, fileText(opened().entries))).catch(() => {});
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
    /** Writes pending changes now. */
    flush: () => (timer ? write() : writing),
  };
}

function fileText(entries: ReadonlyMap<string, CachedEra>): string {
  return JSON.stringify({ format: FORMAT, eras: Object.fromEntries(entries) });
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
