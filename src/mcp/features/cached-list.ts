import { METHOD_NOT_FOUND } from '../../protocol/json-rpc.ts';
import type { Connection, ListKind } from '../connection/connection.ts';
import { type Discovered, formatDiagnostic } from '../discovery/read-list.ts';
import { hasSkills } from '../discovery/skill-entries.ts';
import { ServerFault } from '../errors/host-error.ts';

/** What a list belongs to: a capability, or the extension for skills. */
export type Offer = 'resources' | 'prompts' | 'skills';

type Source<T> = {
  readonly offer: Offer;
  list(connection: Connection): Promise<Discovered<T>>;
  /** Called for each diagnostic of a listing. */
  onWarning(server: string, detail: string): void;
  /** In milliseconds; only differences are used. */
  now(): number;
};

type Held<T> = { readonly items: Promise<readonly T[]>; freshUntil: number };
type Kept<T> = { held: Held<T> | undefined; last: readonly T[] | undefined };

/** How long a list is cached if the server sends no change notifications. */
const DEFAULT_TTL_MS = 10_000;

/** One kind of list, loaded on request and cached per connection until it changes or expires. */
export class CachedList<T> {
  readonly #source: Source<T>;
  readonly #kept = new WeakMap<Connection, Kept<T>>();

  constructor(source: Source<T>) {
    this.#source = source;
  }

  isOffered(connection: Connection): boolean {
    const { offer } = this.#source;
    return offer === 'skills' ? hasSkills(connection) : connection.capabilities[offer] !== undefined;
  }

  /** The last list, however old; undefined if nothing was listed. */
  last(connection: Connection): readonly T[] | undefined {
    return this.#kept.get(connection)?.last;
  }

  /** The current list; empty if the server lacks the capability. Concurrent callers share one request. */
  get(connection: Connection): Promise<readonly T[]> {
    if (!this.isOffered(connection)) return Promise.resolve([]);
    const kept = this.#keptOf(connection);
    if (!kept.held || this.#source.now() >= kept.held.freshUntil) this.#load(connection, kept);
    return (kept.held as Held<T>).items;
  }

  #keptOf(connection: Connection): Kept<T> {
    const known = this.#kept.get(connection);
    if (known) return known;
    const kept: Kept<T> = { held: undefined, last: undefined };
    this.#kept.set(connection, kept);
    const { offer } = this.#source;
    // Skills are made of resources, and have no notification of their own.
    const changing = offer === 'skills' ? 'resources' : offer;
    connection.onListChanged((kind: ListKind) => {
      if (kind === changing || kind === 'all') kept.held = undefined;
    });
    return kept;
  }

  #load(connection: Connection, kept: Kept<T>): void {
    const { list, onWarning, now, offer } = this.#source;
    const loading = list(connection).catch(nothingIfUnknown<T>);
    const held: Held<T> = { items: loading.then(({ items }) => items), freshUntil: Number.POSITIVE_INFINITY };
    kept.held = held;
    loading.then(
      ({ items, diagnostics, ttlMs, failure }) => {
        kept.last = items;
        const hasNotifications = offer !== 'skills' && connection.capabilities[offer]?.listChanged === true;
        const heldMs = ttlMs ?? (hasNotifications ? Number.POSITIVE_INFINITY : DEFAULT_TTL_MS);
        held.freshUntil = failure === undefined ? now() + heldMs : now();
        for (const it of diagnostics) onWarning(connection.name, formatDiagnostic(it));
      },
      () => {
        if (kept.held === held) kept.held = undefined;
      },
    );
  }
}

/** An empty list if the server does not know the method: templates are optional for a server with resources. */
function nothingIfUnknown<T>(failure: unknown): Discovered<T> {
  if (failure instanceof ServerFault && failure.code === METHOD_NOT_FOUND)
    return { items: [], diagnostics: [] };
  throw failure;
}
