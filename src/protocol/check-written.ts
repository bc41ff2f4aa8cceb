import { isRecord } from '../base/is-record.ts';
import { checkExternalEntry, type ExternalServerEntry } from './server-entry.ts';

/** Checks an entry as it is written, before anything is put in: of a url that is not whole yet, what is there. */
export function checkWritten(name: string, raw: unknown): ExternalServerEntry {
  checkExternalEntry(name, isRecord(raw) && isOpen(raw.url) ? { ...raw, url: standIn(raw) } : raw);
  return raw as ExternalServerEntry;
}

function isOpen(value: unknown): value is string {
  return typeof value === 'string' && value.includes('${');
}

/** A whole url of the kind it may become; a scheme that stands there already is kept, so that a wrong one is told now. */
function standIn({ type, url }: Readonly<Record<string, unknown>>): string {
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(String(url))?.[0];
  return `${scheme ?? (type === 'ws' || type === 'ws-ide' ? 'ws:' : 'http:')}//stands.in`;
}
