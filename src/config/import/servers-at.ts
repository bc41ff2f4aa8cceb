import { isRecord } from '../../base/is-record.ts';
import type { ForeignFrom, RawServer } from './foreign.ts';

/** The members of the object at the end of a way, each a server; what is no object is told as a server that is none. */
export function serversAt(
  file: Readonly<Record<string, unknown>>,
  way: readonly string[],
  from: ForeignFrom,
): RawServer[] {
  let at: unknown = file;
  for (const step of way) at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  if (at === undefined || at === null) return [];
  if (!isRecord(at)) return [{ name: way.join('.'), way, value: at, from }];
  return Object.entries(at).map(([name, value]) => ({ name, way: [...way, name], value, from }));
}
