import { isEqualJson } from '../../base/json-value.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { ServerOrigin } from './server-status.ts';

/** What a new configuration means for the servers there are; every name stands in one list. */
export type ConfigureSteps = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Their entry is another one now. */
  readonly restarted: readonly string[];
  readonly untouched: readonly string[];
  /** The program has servers of these names, and they stay. */
  readonly kept: readonly string[];
};

/** What has to be done so that the configured servers are these; nothing is done yet. */
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

/** What was done, in one line; undefined if it was nothing. */
export function stepsText({ added, removed, restarted }: ConfigureSteps): string | undefined {
  const done = Object.entries({ added, removed, restarted }).filter(([, names]) => names.length > 0);
  if (done.length === 0) return undefined;
  return `configuration: ${done.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`;
}

/** Those of the entries that are named. */
export function pick(
  entries: Readonly<Record<string, ServerEntry>>,
  names: readonly string[],
): Record<string, ServerEntry> {
  const named = names.filter((name) => Object.hasOwn(entries, name));
  return Object.fromEntries(named.map((name) => [name, entries[name] as ServerEntry]));
}

/** Whether two entries lead to the same server; a server in this process is the same if it is the same object. */
export function isSameServer(a: ServerEntry, b: ServerEntry): boolean {
  return instanceOf(a) === instanceOf(b) && isEqualJson(described(a), described(b));
}

function instanceOf(entry: ServerEntry): unknown {
  return entry.type === 'sdk' ? entry.instance : undefined;
}

/** The entry without what this process adds to it. */
function described(entry: ServerEntry): object {
  return { ...entry, manifest: undefined, instance: undefined, assigns: undefined };
}
