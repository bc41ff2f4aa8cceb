import { createHash } from 'node:crypto';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';

/**
 * What makes a server the same one under its key: the command and its arguments, or the address; credentials and the
 * environment do not count. It tells nothing of what it is made of. Undefined for the program's own servers, which are
 * its own code.
 */
export function placeOf(entry: ServerEntry, cwd: string | undefined): string | undefined {
  const parts = partsOf(entry, cwd);
  return parts && createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function partsOf(entry: ServerEntry, cwd: string | undefined): unknown[] | undefined {
  if (entry.type === 'sdk') return undefined;
  // An editor listens somewhere else each time it is started.
  if (entry.type === 'sse-ide' || entry.type === 'ws-ide') return ['ide', entry.ideName ?? ''];
  if (!('command' in entry)) return ['url', entry.url];
  const { command, args = [] } = entry;
  const where = entry.cwd ?? ([command, ...args].some(isRelative) ? (cwd ?? '') : '');
  return ['command', command, args, where];
}

/** Means another file in another directory; the name of a package does not. */
function isRelative(word: string): boolean {
  return /^\.{1,2}([\\/]|$)/.test(word) || /^[^/\\@$-].*\.([cm]?[jt]s|py|rb|sh|jar|exe)$/i.test(word);
}
