import { cutText } from '../../base/cut-text.ts';
import { isTrustedEntry } from '../../mcp/connection/world.ts';
import type { Server } from '../../mcp/servers/server.ts';
import type { Worker } from './worker.ts';

/** How long a server may take to list what it has, before somebody is asked instead. */
const PATIENCE_MS = 10_000;
const LONGEST_URI = 500;

/**
 * Why reading a URI is not known to only read; undefined if it is. A URI is an argument like any other: what a server
 * that nobody vouched for has not listed itself may carry something to it.
 */
export async function resourceDoubt(
  key: string,
  uri: string,
  { entry }: Server,
  worker: Pick<Worker, 'featuresOf'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (isTrustedEntry(entry)) return undefined;
  const listed = await worker
    .featuresOf(key)
    .listResources(key, { signal, timeoutMs: PATIENCE_MS })
    .catch(() => []);
  if (listed.some((it) => it.uri === uri)) return undefined;
  return `${cutText(uri, LONGEST_URI)} is none of the resources that server "${key}" lists, and the server is not trusted`;
}
