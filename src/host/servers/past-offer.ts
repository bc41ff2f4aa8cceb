import { createHash } from 'node:crypto';
import { isRecord } from '../../base/is-record.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { eraKey } from '../connect/era.ts';
import type { ConnectWorld, ServerEntry } from '../connect/world.ts';
import type { Discovered } from '../discover/discovered.ts';
import { sortedJson } from './is-same.ts';

/** What one server listed in earlier lives; servers in the program have none, since they are there at once. */
export class PastOffer {
  readonly #store: ConnectWorld['catalogue'];
  readonly #key: string | undefined;
  #read: Promise<void> | undefined;

  constructor(key: string, entry: ServerEntry, { catalogue, cwd }: Pick<ConnectWorld, 'catalogue' | 'cwd'>) {
    this.#store = catalogue;
    this.#key = pastKey(key, entry, cwd);
  }

  /** Settles when what there is has been read. */
  get read(): Promise<void> | undefined {
    return this.#read;
  }

  /** Reads it, the first time only: whoever is dialled again has been heard of since. */
  recall(take: (tools: readonly ListedTool[]) => void): void {
    if (this.#key === undefined || !this.#store || this.#read !== undefined) return;
    this.#read = this.#store.recall(this.#key).then((tools) => {
      if (tools) take(tools);
    });
  }

  /** A list that ends early is no list to remember. */
  remember({ items, failure }: Discovered<ListedTool>): void {
    if (this.#key !== undefined && failure === undefined) this.#store?.remember(this.#key, items);
  }
}

/**
 * The same for the same server under the same name and with the same credentials: what one person is offered is nothing
 * to tell another. It tells nothing of them: all of it goes into one hash.
 */
function pastKey(key: string, entry: ServerEntry, cwd: string | undefined): string | undefined {
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  const server = eraKey(entry as ServerEntry, cwd);
  if (server === undefined) return undefined;
  const { headers, headersHelper, tls, env, authToken }: Record<string, unknown> = entry;
  const who = { headers, headersHelper, tls, env, authToken };
  return createHash('sha256')
    .update(sortedJson([key, server, who]))
    .digest('base64url');
}
