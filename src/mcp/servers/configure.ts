import { isEqualJson } from '../../base/json-value.ts';
import { toolServerOf } from '../../tool-server/sdk-server.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { ServerOrigin } from './server-status.ts';

/** How a new configuration changes the servers; each name is in exactly one list. */
export type ConfigureSteps = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Servers whose entry changed. */
  readonly restarted: readonly string[];
  readonly untouched: readonly string[];
  /** Names that a server of the program already uses; the program's server stays. */
  readonly kept: readonly string[];
};

/** Compares the new configuration with the current servers. */
export function configureSteps(
  held: ReadonlyMap<string, { readonly entry: ServerEntry; readonly origin: ServerOrigin }>,
  entries: Readonly<Record<string, ServerEntry>>,
): ConfigureSteps {
  const names = Map.groupBy(Object.keys(entries), (key): keyof ConfigureSteps => {
    const slot = held.get(key);
    if (!slot) return 'added';
    if (slot.origin !== 'config') return 'kept';
    return isSameServer(slot.entry, entries[key] as ServerEntry) ? 'untouched' : 'restarted';
  });
  const isGone = ([key, { origin }]: [string, { readonly origin: ServerOrigin }]) =>
    origin === 'config' && !Object.hasOwn(entries, key);
  return {
    added: names.get('added') ?? [],
    removed: [...held].filter(isGone).map(([key]) => key),
    restarted: names.get('restarted') ?? [],
    untouched: names.get('untouched') ?? [],
    kept: names.get('kept') ?? [],
  };
}

/** A one-line summary of the changes; undefined if there are none. */
export function stepsText({ added, removed, restarted }: ConfigureSteps): string | undefined {
  const done = Object.entries({ added, removed, restarted }).filter(([, names]) => names.length > 0);
  if (done.length === 0) return undefined;
  return `configuration: ${done.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`;
}

/** The entries with these names. */
export function pick(
  entries: Readonly<Record<string, ServerEntry>>,
  names: readonly string[],
): Record<string, ServerEntry> {
  const named = names.filter((name) => Object.hasOwn(entries, name));
  return Object.fromEntries(named.map((name) => [name, entries[name] as ServerEntry]));
}

/** Whether two entries describe the same server; in-process servers are compared by identity. */
export function isSameServer(a: ServerEntry, b: ServerEntry): boolean {
  return instanceOf(a) === instanceOf(b) && isEqualJson(described(a), described(b));
}

/** The object that identifies an in-process server. */
function instanceOf(entry: ServerEntry): unknown {
  return entry.type === 'sdk' ? (toolServerOf(entry) ?? entry.instance) : undefined;
}

const IN_MEMORY: ReadonlySet<string> = new Set(['manifest', 'instance', 'assigns']);

/** The entry without the values that exist only in memory, which are not read. */
function described(entry: ServerEntry): object {
  const names = Object.keys(entry).filter((name) => !IN_MEMORY.has(name));
  return Object.fromEntries(names.map((name) => [name, entry[name as keyof ServerEntry]]));
}
