import type { Connection, ListKind } from '../connection/connection.ts';
import { type Discovered, formatDiagnostic } from '../discovery/read-list.ts';
import { ServerFault } from '../errors/host-error.ts';

type Source<T> = {
  /** The capability of the list, and the kind of its change notifications. */
  readonly offer: 'resources' | 'prompts';
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

  isOffered({ capabilities }: Connection): boolean {
    return capabilities[this.#source.offer] !== undefined;
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
    connection.onListChanged((kind: ListKind) => {
      if (kind === offer || kind === 'all') kept.held = undefined;
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
        const hasNotifications = connection.capabilities[offer]?.listChanged === true;
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

const METHOD_NOT_FOUND = -32601;

/** A server with resources may not implement templates. */
function nothingIfUnknown<T>(failure: unknown): Discovered<T> {
  if (failure instanceof ServerFault && failure.code === METHOD_NOT_FOUND)
    return { items: [], diagnostics: [] };
  throw failure;
}
