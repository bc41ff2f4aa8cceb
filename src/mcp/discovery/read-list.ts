import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { ServerFault } from '../errors/host-error.ts';
import type { SizeBudget } from './parse-entry.ts';

/** Limits for reading one list, since a server may never stop sending pages. */
export type ListLimits = {
  readonly pages: number;
  readonly entries: number;
  /** Empty pages in a row. */
  readonly emptyPages: number;
  /** Time after which no further page is requested. */
  readonly totalMs: number;
  /** In all entries together. */
  readonly values: number;
  /** Characters in all entries and cursors together. */
  readonly text: number;
};

const LIST_LIMITS: ListLimits = {
  pages: 100,
  entries: 20_000,
  emptyPages: 10,
  totalMs: 60_000,
  values: 2_000_000,
  text: 32 * 2 ** 20,
};

/** More repairs of one entry are reported as a number. */
const MAX_REPAIRS_REPORTED = 10;

/** A list of a server, with how to request and parse it. */
export type ListSource<T> = {
  readonly server: string;
  readonly list: ListName;
  /** One page as the server sent it. */
  readonly requestPage: (cursor: string | undefined) => Promise<unknown>;
  /** Parses one entry and subtracts its size from the budget. */
  readonly read: (value: unknown, room: SizeBudget) => ReadEntry<T>;
};

/**
 * Reads all pages of a list. An invalid entry does not affect the others. Rejects if the first page fails, or if a later
 * page fails for another reason than a JSON-RPC error of the server.
 */
export async function readList<T>(
  { server, list, requestPage: ask, read }: ListSource<T>,
  given: Partial<ListLimits> = {},
): Promise<Discovered<T>> {
  const limits = { ...LIST_LIMITS, ...given };
  const until = performance.now() + limits.totalMs;
  const diagnostics: DiscoveryDiagnostic[] = [];
  const report = (fault: string) => diagnostics.push({ server, list, fault, outcome: 'list' });
  const items = new Map<string, T>();
  const left: SizeBudget = { values: limits.values, text: limits.text };
  const cursors = new Set<string>();
  let count = 0;
  let empty = 0;
  let ttlMs: number | undefined;
  let failure: unknown;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    let answer: unknown;
    try {
      answer = await ask(cursor);
    } catch (cause) {
      if (page === 1 || !(cause instanceof ServerFault)) throw cause;
      failure = cause;
      report(`page ${page} of its ${pluralOf(list)} could not be listed: ${messageOf(cause)}`);
      break;
    }
    const members: Record<string, unknown> = isRecord(answer) ? answer : {};
    const { nextCursor } = members;
    const listed: unknown = members[list];
    const entries: readonly unknown[] = Array.isArray(listed) ? listed : [];
    if (!Array.isArray(listed)) report(`page ${page} of its list of ${pluralOf(list)} has no "${list}"`);
    let over: string | undefined;
    for (const value of entries) {
      if (count >= limits.entries) {
        over = `has more than ${limits.entries} entries`;
        break;
      }
      const entry = read(value, left);
      over = overrun(left, limits);
      if (over !== undefined) break;
      for (const it of keep(items, entry, `#${count}`)) diagnostics.push({ server, list, ...it });
      count++;
    }
    if (over !== undefined) {
      report(`its list of ${pluralOf(list)} ${over}; the rest is not offered`);
      break;
    }
    ttlMs = shorter(ttlMs, members.ttlMs);
    if (typeof nextCursor !== 'string') break;
    empty = entries.length === 0 ? empty + 1 : 0;
    left.text -= nextCursor.length;
    const tooMuch = overrun(left, limits);
    const end = cursors.has(nextCursor)
      ? `repeats the cursor ${JSON.stringify(cut(nextCursor))}; the rest was not read`
      : page >= limits.pages
        ? `has more than ${limits.pages} pages; the rest was not read`
        : empty >= limits.emptyPages
          ? `has ${empty} empty pages in a row; the rest was not read`
          : performance.now() >= until
            ? `took longer than ${limits.totalMs} ms; the rest was not read`
            : tooMuch && `${tooMuch}; the rest was not read`;
    if (end !== undefined) {
      report(`its list of ${pluralOf(list)} ${end}`);
      break;
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return {
    items: [...items.values()],
    diagnostics,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(failure !== undefined && { failure }),
  };
}

/** Adds one entry, or returns why not. */
function keep<T>(
  items: Map<string, T>,
  entry: ReadEntry<T>,
  place: string,
): Pick<DiscoveryDiagnostic, 'entry' | 'fault' | 'outcome'>[] {
  const name = cut(entry.name ?? place);
  const skip = (fault: string) => [{ entry: name, fault, outcome: 'set-aside' as const }];
  if ('fault' in entry) return skip(entry.fault);
  if (items.has(entry.name)) return skip('listed twice; the first is used');
  items.set(entry.name, entry.item);
  const faults = entry.repairs.slice(0, MAX_REPAIRS_REPORTED);
  const more = entry.repairs.length - faults.length;
  if (more > 0) faults.push(`${more} more invalid members`);
  return faults.map((fault) => ({ entry: name, fault, outcome: 'kept' }));
}

/** The limit that was exceeded, if any. */
function overrun(left: SizeBudget, limits: ListLimits): string | undefined {
  if (left.values < 0) return `contains more than ${limits.values} values`;
  return left.text < 0 ? `contains more than ${limits.text} characters` : undefined;
}

function pluralOf(list: ListName): string {
  return `${NOUNS[list]}s`;
}

function shorter(known: number | undefined, reported: unknown): number | undefined {
  if (typeof reported !== 'number' || !(reported >= 0)) return known;
  return known === undefined ? reported : Math.min(known, reported);
}

/** Truncates a name or cursor. The characters are copied, since a slice would keep the whole string in memory. */
function cut(text: string): string {
  return text.length > 200 ? Buffer.from(truncate(text, 200), 'utf16le').toString('utf16le') : text;
}

/** The lists of a server. */
export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** An invalid entry or a problem of the list itself; all other entries are offered. */
export type DiscoveryDiagnostic = {
  readonly server: string;
  readonly list: ListName;
  /** The entry's name, or its index if it has none; absent if the problem is in the list itself. */
  readonly entry?: string;
  readonly fault: string;
  /** `kept`: offered without the invalid part; `set-aside`: not offered; `list`: not about a single entry. */
  readonly outcome: 'kept' | 'set-aside' | 'list';
};

/** One list of a server: each entry is an item or has a diagnostic. */
export type Discovered<T> = {
  readonly items: readonly T[];
  readonly diagnostics: readonly DiscoveryDiagnostic[];
  /** The TTL that the server sent, in milliseconds. */
  readonly ttlMs?: number;
  /** Why a later page failed: the items are incomplete, so an earlier list may be better. */
  readonly failure?: unknown;
};

/** A parsed entry with the repairs made to it, or why it is invalid. */
export type ReadEntry<T> =
  | { readonly item: T; readonly name: string; readonly repairs: readonly string[] }
  | { readonly name?: string; readonly fault: string };

/** A diagnostic in one line, without the name of the server. */
export function formatDiagnostic({ list, entry, fault, outcome }: DiscoveryDiagnostic): string {
  if (entry === undefined) return fault;
  const text = `${NOUNS[list]} ${JSON.stringify(entry)}: ${fault}`;
  return outcome === 'set-aside' ? `${text}; not offered` : text;
}

/** The noun for one entry of each list. */
const NOUNS: Readonly<Record<ListName, string>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
};
