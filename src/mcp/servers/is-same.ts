import { isRecord } from '../../base/is-record.ts';
import type { ServerEntry } from '../connection/world.ts';

/** Whether two entries lead to the same server; what was known of it beforehand makes no difference. */
export function isSame(a: ServerEntry, b: ServerEntry): boolean {
  return instanceOf(a) === instanceOf(b) && textOf(a) === textOf(b);
}

/** A server in this process is the same if it is the same object. */
function instanceOf(entry: ServerEntry): unknown {
  return entry.type === 'sdk' ? entry.instance : undefined;
}

function textOf(entry: ServerEntry): string {
  return sortedJson({ ...entry, manifest: undefined, instance: undefined, assigns: undefined });
}

/** The order in which a person wrote the members means nothing. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
