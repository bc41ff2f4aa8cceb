import { isRecord } from '../../../base/is-record.ts';
import type { EntryFault } from '../../../protocol/server-entry.ts';

/** Why an entry from the network is not taken: it could run something here, read our files, or send our variables away. */
export function connectorEntryFault(entry: Readonly<Record<string, unknown>>): EntryFault | undefined {
  const { type, headersHelper, tls } = entry;
  if (entry.command !== undefined)
    return {
      member: 'command',
      message: 'a connector cannot name a command to run here; only http, sse and ws servers',
    };
  if (type !== undefined && !REMOTE.has(type))
    return { member: 'type', message: 'a connector gives http, sse and ws servers only' };
  if (headersHelper !== undefined)
    return { member: 'headersHelper', message: 'a connector cannot name a command to run here' };
  if (
    isRecord(tls) &&
    PEM.some((part) => tls[part] !== undefined && !String(tls[part]).includes('-----BEGIN '))
  )
    return { member: 'tls', message: 'a connector cannot name files of this machine; it may give PEM texts' };
  const member = Object.keys(entry).find((name) => name.includes('${') || hasPlace(entry[name]));
  if (member === undefined) return undefined;
  return { member, message: 'nothing is put into what comes from a connector, so it cannot have "${" in it' };
}

const REMOTE: ReadonlySet<unknown> = new Set(['http', 'sse', 'ws']);
const PEM = ['ca', 'cert', 'key'] as const;

function hasPlace(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (Array.isArray(value)) return value.some(hasPlace);
  return isRecord(value) && Object.entries(value).some(([name, it]) => name.includes('${') || hasPlace(it));
}
