import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../../../base/is-record.ts';
import { replaceFile } from '../../../base/replace-file.ts';
import { readPlain } from '../../files/plain-json.ts';
import type { ConnectorSetting } from '../found.ts';

/** What a catalogue said last. */
export type CachedCatalogue = {
  readonly etag?: string;
  /** When that came, in ISO's words. */
  readonly fetchedAt: string;
  readonly body: Readonly<Record<string, unknown>>;
};

const VERSION = 1;

/** An answer is at most 2 MiB; what is larger is not ours. */
const LARGEST = 8 * 1024 * 1024;

/** Where it is kept; an address may hold a secret, so that of the file does not. */
export function cachePath(home: string, { url }: Pick<ConnectorSetting, 'url'>): string {
  return join(home, 'cache', 'connectors', `${createHash('sha256').update(url).digest('hex')}.json`);
}

/** Undefined if there is none or it cannot be used: then it is fetched anew. */
export async function readCache(path: string): Promise<CachedCatalogue | undefined> {
  try {
    if ((await stat(path)).size > LARGEST) return undefined;
    const value = readPlain(await readFile(path, 'utf8'))?.value;
    if (!isRecord(value) || value.version !== VERSION || !isRecord(value.body)) return undefined;
    const { etag, fetchedAt, body } = value;
    return { ...(typeof etag === 'string' && { etag }), fetchedAt: String(fetchedAt), body };
  } catch {
    return undefined;
  }
}

/** Only its owner may read it; of the address there is what can be shown, and nothing of the headers. */
export function writeCache(
  path: string,
  { label }: Pick<ConnectorSetting, 'label'>,
  it: CachedCatalogue,
): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify({ version: VERSION, url: label, ...it })}\n`, { mode: 0o600 });
}
