import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { normalUrl } from './normal-url.ts';

/**
 * What an entry leads to, as a text to compare (R167). Of a command: itself, its arguments one by one, in order and to
 * the letter, and `cwd`, on which their relative paths depend. Of an address: the address as it is dialled, whatever
 * `type` says, since one without a type may be of any. Credentials (`env`, `headers`, `user:password@`), time-outs,
 * tool lists and trust do not count.
 */
export function signatureOf(entry: ExternalServerEntry): string {
  if ('url' in entry && entry.url !== undefined) return JSON.stringify(['url', addressOf(entry.url)]);
  if (entry.type === 'sse-ide' || entry.type === 'ws-ide')
    return JSON.stringify(['ide', entry.ideName ?? null]);
  const {
    command,
    args = [],
    cwd = null,
  } = entry as Partial<Extract<ExternalServerEntry, { command: string }>>;
  return JSON.stringify(['command', cwd, command, ...args]);
}

function addressOf(written: string): string {
  // What is put in later may be anything, so only the same text is the same place.
  const url = written.includes('${') ? undefined : normalUrl(written);
  return url ? `${url.scheme}://${url.host}:${url.port}${url.path}${url.query}` : written;
}
