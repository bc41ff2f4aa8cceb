import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { ServerFault } from '../errors/host-error.ts';
import type { SizeBudget } from './parse-entry.ts';

/** How much of one list is read at most: a server may never stop. */
export type ListLimits = {
  readonly pages: number;
  readonly entries: number;
  /** Pages in a row that hold nothing. */
  readonly emptyPages: number;
  /** Time after which no other page is asked for. */
  readonly totalMs: number;
  /** Of all entries together. */
  readonly values: number;
  /** Characters of all entries and cursors together. */
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

/** So many faults of one entry are told one by one. */
const MAX_REPAIRS_REPORTED = 10;

/** Which list of which server, and how it is asked for and read. */
export type ListSource<T> = {
  readonly server: string;
  readonly list: ListName;
  /** One page as the server sent it. */
  readonly requestPage: (cursor: string | undefined) => Promise<unknown>;
  /** What an entry holds is taken off the room. */
  readonly read: (value: unknown, room: SizeBudget) => ReadEntry<T>;
};

/**
 * Reads a list to its end, each entry on its own, so that a bad one costs no other. Rejects if its first page cannot be
 * had, or a later one for any other reason than that the server refuses it.
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
      report(`page ${page} of its list of ${pluralOf(list)} could not be had: ${messageOf(cause)}`);
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
      ? `runs in circles: the cursor ${JSON.stringify(cut(nextCursor))} came twice`
      : page >= limits.pages
        ? `has more than ${limits.pages} pages; the rest was not read`
        : empty >= limits.emptyPages
          ? `has ${empty} pages in a row that hold nothing; the rest was not read`
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

/** Adds one entry, or says why not. */
function keep<T>(
  items: Map<string, T>,
  entry: ReadEntry<T>,
  place: string,
): Pick<DiscoveryDiagnostic, 'entry' | 'fault' | 'outcome'>[] {
  const name = cut(entry.name ?? place);
  const skip = (fault: string) => [{ entry: name, fault, outcome: 'set-aside' as const }];
  if ('fault' in entry) return skip(entry.fault);
  if (items.has(entry.name)) return skip('it is listed twice; the first is used');
  items.set(entry.name, entry.item);
  const faults = entry.repairs.slice(0, MAX_REPAIRS_REPORTED);
  const more = entry.repairs.length - faults.length;
  if (more > 0) faults.push(`it has ${more} more faults, which are not told one by one`);
  return faults.map((fault) => ({ entry: name, fault, outcome: 'kept' }));
}

/** What there was too much of, if anything. */
function overrun(left: SizeBudget, limits: ListLimits): string | undefined {
  if (left.values < 0) return `holds more than ${limits.values} values`;
  return left.text < 0 ? `holds more than ${limits.text} characters` : undefined;
}

function pluralOf(list: ListName): string {
  return `${NOUNS[list]}s`;
}

function shorter(known: number | undefined, reported: unknown): number | undefined {
  if (typeof reported !== 'number' || !(reported >= 0)) return known;
  return known === undefined ? reported : Math.min(known, reported);
}

/** What a server calls things may be of any length; the bytes are copied, since a slice would hold on to all of it. */
function cut(text: string): string {
  return text.length > 200 ? Buffer.from(truncate(text, 200), 'utf16le').toString('utf16le') : text;
}
/** The lists a server keeps. */
export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** Something in a list that is not as it should be; everything else that was listed is offered. */
export type DiscoveryDiagnostic = {
  readonly server: string;
  readonly list: ListName;
  /** The entry's name, or its place in the list when it has none; absent if the fault is the list's. */
  readonly entry?: string;
  readonly fault: string;
  /** `kept`: it is offered without what was wrong; `set-aside`: it is not offered, and this is the only word on it; `list`: it is no single entry. */
  readonly outcome: 'kept' | 'set-aside' | 'list';
};

/** One list of a server, read to its end: every entry is an item or set aside by one diagnostic. */
export type Discovered<T> = {
  readonly items: readonly T[];
  readonly diagnostics: readonly DiscoveryDiagnostic[];
  /** How long the server says the list holds, in milliseconds. */
  readonly ttlMs?: number;
  /** Why a later page could not be had: what came before it is here, and an older list may be the better one. */
  readonly failure?: unknown;
};

/** What became of one entry: an item, with the repairs made to it, or the fault that makes it unusable. */
export type ReadEntry<T> =
  | { readonly item: T; readonly name: string; readonly repairs: readonly string[] }
  | { readonly name?: string; readonly fault: string };

/** A diagnostic in one line, without the name of the server. */
export function formatDiagnostic({ list, entry, fault, outcome }: DiscoveryDiagnostic): string {
  if (entry === undefined) return fault;
  const text = `${NOUNS[list]} ${JSON.stringify(entry)}: ${fault}`;
  return outcome === 'set-aside' ? `${text}; it is not offered` : text;
}

/** What one entry of each list is called. */
const NOUNS: Readonly<Record<ListName, string>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
};
