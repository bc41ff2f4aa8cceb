import { checkWritten } from '../../protocol/check-written.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type EntryFault, externalEntryFault } from '../../protocol/server-entry.ts';
import { isExternalType, unknownType } from '../../protocol/unknown-type.ts';
import { meantEntry } from './meant-entry.ts';

/** What is wrong with an entry as it was written; where something is put in later, that is judged then. */
export function entryFault(name: string, raw: Readonly<Record<string, unknown>>): EntryFault | undefined {
  if (raw.type === 'sdk') return { member: 'type', message: IN_PROGRAM };
  const { entry } = meantEntry(raw);
  if (!isExternalType(entry.type ?? 'stdio'))
    return { member: 'type', message: unknownType(entry.type, 'file') };
  try {
    checkWritten(name, entry);
    return faultOfSwitch(raw);
  } catch (cause) {
    const message = messageOf(cause).replace(`mcpServers["${name}"]: `, '');
    const member = memberOf(entry, message);
    return { ...(member !== undefined && { member }), message };
  }
}

const IN_PROGRAM =
  'a server in a program cannot be in a file: give it to query() there, or write a stdio, http, sse or ws entry';

/** Who wrote something else there may have meant to turn it off, so it is not started. */
function faultOfSwitch(raw: Readonly<Record<string, unknown>>): EntryFault | undefined {
  const member = ['disabled', 'enabled'].find((it) => raw[it] !== undefined && typeof raw[it] !== 'boolean');
  return member === undefined ? undefined : { member, message: `"${member}" is true or false` };
}

function memberOf(raw: object, message: string): string | undefined {
  const known = externalEntryFault(raw);
  if (known?.message === message) return known.member;
  return [...message.matchAll(/"(\w+)"/g)].map((it) => it[1] ?? '').find((it) => it in raw);
}
