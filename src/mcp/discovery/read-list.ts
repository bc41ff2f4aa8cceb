import { isRecord } from '../../base/json-value.ts';
import { pluralize, truncate } from '../../base/text/display-text.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { ServerFault } from '../errors/host-error.ts';

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

/** Maximum number of repairs of one entry that are reported in full; further ones are only counted. */
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
  if (items.has(entry.name)) return skip('an earlier entry of the list has the same name');
  items.set(entry.name, entry.item);
  const faults = entry.repairs.slice(0, MAX_REPAIRS_REPORTED);
  const more = entry.repairs.length - faults.length;
  if (more > 0) faults.push(pluralize(more, 'more invalid member'));
  return faults.map((fault) => ({ entry: name, fault, outcome: 'kept' }));
}

/** The limit that was exceeded, if any. */
function overrun(left: SizeBudget, limits: ListLimits): string | undefined {
  if (left.values < 0) return `contains more than ${limits.values} JSON values`;
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
export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'skills';

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
  skills: 'skill',
};

/** A check and its description for messages. */
type MemberRule = readonly [isFine: (value: unknown) => boolean, what: string];

/** Checks of optional members, by name. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

/** The checks that several kinds of entries share. */
export const RULES = {
  text: [(value) => typeof value === 'string', 'a string'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  object: [isRecord, 'an object'],
  number: [(value) => typeof value === 'number' && value >= 0, 'a number'],
  icons: [
    (value) => Array.isArray(value) && value.every((it) => isRecord(it) && typeof it.src === 'string'),
    'a list of icons, each with its "src"',
  ],
} as const satisfies MemberRules;

/**
 * Returns the same object if all members are valid, else a copy without the invalid ones and a message for each. A
 * `null` member counts as absent, without a message.
 */
export function dropInvalidMembers(
  item: Record<string, unknown>,
  rules: MemberRules,
  within = '',
): { readonly value: Record<string, unknown>; readonly repairs: readonly string[] } {
  const bad = new Map<string, string | undefined>();
  for (const [name, [isFine, what]] of Object.entries(rules)) {
    if (!Object.hasOwn(item, name) || item[name] === undefined || isFine(item[name])) continue;
    bad.set(name, item[name] === null ? undefined : `"${within}${name}" is not ${what} and was removed`);
  }
  if (bad.size === 0) return { value: item, repairs: [] };
  const value = Object.fromEntries(Object.entries(item).filter(([name]) => !bad.has(name)));
  return { value, repairs: [...bad.values()].filter((fault) => fault !== undefined) };
}

/** Maximum length of a name. Real names have a few dozen characters; processing time grows with the length. */
const MAX_NAME_LENGTH = 1_024;

/** An entry with a valid name and a bounded JSON value, or why it is invalid. */
export function parseNamed(
  value: unknown,
  room: SizeBudget | undefined,
):
  | { readonly value: Readonly<Record<string, unknown>>; readonly name: string }
  | { name?: string; fault: string } {
  if (!isRecord(value)) return { fault: 'not an object' };
  const named = readName(value.name);
  if ('fault' in named) return named;
  const fault = jsonError(value, room);
  return fault === undefined ? { value, name: named.name } : { name: named.name, fault };
}

function readName(name: unknown): { readonly name: string } | { name?: string; fault: string } {
  if (typeof name !== 'string' || name === '') return { fault: '"name" must be a non-empty string' };
  return name.length > MAX_NAME_LENGTH
    ? { name, fault: `"name" is longer than ${MAX_NAME_LENGTH} characters` }
    : { name };
}
/** Maximum nesting of a definition: deeper ones would overflow the stack of code that processes them later. */
const MAX_DEPTH = 200;
/** Maximum number of values in one definition; the largest known has three thousand. */
const MAX_VALUES = 100_000;

/** The values and characters that may still be read from a list; negative if exceeded. */
export type SizeBudget = { values: number; text: number };

/** Why a value cannot be passed on as JSON; undefined if it can. Subtracts its size from the budget. */
export function jsonError(
  value: unknown,
  room: SizeBudget = { values: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY },
): string | undefined {
  const walk = { left: MAX_VALUES, room, fault: undefined };
  visit(value, 0, walk);
  return walk.fault;
}

type Walk = { left: number; readonly room: SizeBudget; fault: string | undefined };

/** Counts the values and characters of a value. It runs for every tool of every server, so it allocates nothing. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (typeof value === 'string') walk.room.text -= value.length;
  if (typeof value === 'bigint') walk.fault = 'contains a bigint, which JSON cannot represent';
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) walk.fault = `nested deeper than ${MAX_DEPTH} levels`;
  else if (Array.isArray(value)) {
    for (let at = 0; at < value.length && take(walk); at++) visit(value[at], depth + 1, walk);
  } else {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      walk.room.text -= name.length;
      if (!take(walk)) return;
      visit(members[name], depth + 1, walk);
    }
  }
}

function take(walk: Walk): boolean {
  walk.room.values--;
  if (--walk.left < 0) walk.fault ??= `contains more than ${MAX_VALUES} values`;
  if (walk.room.values < 0 || walk.room.text < 0) walk.fault ??= 'exceeds the size limit of the list';
  return walk.fault === undefined;
}
