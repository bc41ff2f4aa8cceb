import { isRecord } from '../base/is-record.ts';
import { unknownMembers } from '../protocol/server-entry.ts';
import type { HostEvent } from './host-options.ts';

/** Members of entries that nobody knows: each is most likely a typo. */
export function entryWarnings(servers: Readonly<Record<string, unknown>>): HostEvent[] {
  return Object.entries(servers).flatMap(([server, entry]) => warningsOf(server, entry));
}

function warningsOf(server: string, entry: unknown): HostEvent[] {
  if (!isRecord(entry)) return [];
  return unknownMembers(entry).map(({ name, meant }) => {
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return { type: 'warning', server, message: `"${name}" of its entry means nothing here${hint}` };
  });
}
