import { createHash } from 'node:crypto';
import { isRecord } from '../../base/is-record.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { eraKey } from '../connection/era.ts';
import type { ConnectWorld, ServerEntry } from '../connection/world.ts';
import type { Discovered } from '../discovery/discovered.ts';
import { sortedJson } from './is-same.ts';

/** What one server listed in earlier lives; servers in the program have none, since they are there at once. */
export class PastOffer {
  readonly #world: PastWorld;
  readonly #server: string;
  readonly #entry: ServerEntry;
  #key: string | undefined;
  #read: Promise<void> | undefined;

  constructor(server: string, entry: ServerEntry, world: PastWorld) {
    this.#server = server;
    this.#entry = entry;
    this.#world = world;
  }

  /** Settles when what there is has been read. */
  get read(): Promise<void> | undefined {
    return this.#read;
  }

  /** Reads it when it is dialled, the first time only: whoever is dialled again has been heard of since. */
  recall(take: (tools: readonly ListedTool[]) => void): void {
    const { catalogue } = this.#world;
    if (!catalogue) return;
    this.#key = pastKey(this.#server, this.#entry, this.#world);
    if (this.#key === undefined || this.#read !== undefined) return;
    this.#read = catalogue.recall(this.#key).then((tools) => {
      if (tools) take(tools);
    });
  }

  /** A list that ends early is no list to remember. */
  remember({ items, failure }: Discovered<ListedTool>): void {
    if (this.#key !== undefined && failure === undefined) this.#world.catalogue?.remember(this.#key, items);
  }
}

type PastWorld = Pick<ConnectWorld, 'catalogue' | 'cwd' | 'expand'>;

/**
 * The same for the same server under the same name and with the same credentials, whatever they are written as: what one
 * person is offered is nothing to tell another. It tells nothing of them: all of it goes into one hash.
 */
function pastKey(key: string, written: ServerEntry, { cwd, expand }: PastWorld): string | undefined {
  const entry = entryAsDialled(key, written, expand);
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  const server = eraKey(entry as ServerEntry, cwd);
  if (server === undefined) return undefined;
  const { headers, headersHelper, tls, env, authToken }: Record<string, unknown> = entry;
  const who = { headers, headersHelper, tls, env, authToken };
  return createHash('sha256')
    .update(sortedJson([key, server, who]))
    .digest('base64url');
}

/** Undefined if something it refers to is missing: the dial says so. */
function entryAsDialled(
  key: string,
  entry: ServerEntry,
  expand: PastWorld['expand'],
): ServerEntry | undefined {
  try {
    return expand ? expand(key, entry).entry : entry;
  } catch {
    return undefined;
  }
}
