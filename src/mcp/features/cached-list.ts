import type { Connection, ListKind } from '../connection/connection.ts';
import { type Discovered, formatDiagnostic } from '../discovery/read-list.ts';
import { ServerFault } from '../errors/host-error.ts';

type Source<T> = {
  /** The capability that stands for it, and the changes that concern it. */
  readonly offer: 'resources' | 'prompts';
  list(connection: Connection): Promise<Discovered<T>>;
  /** Hears what is wrong with entries, as often as they are listed. */
  onWarning(server: string, detail: string): void;
  /** In milliseconds; only differences count. */
  now(): number;
};

type Held<T> = { readonly items: Promise<readonly T[]>; freshUntil: number };
type Kept<T> = { held: Held<T> | undefined; last: readonly T[] | undefined };

/** How long a list is cached if the server sends no change notifications. */
const UNTOLD_MS = 10_000;

/** One kind of list: loading for when it is wanted, kept as long as its connection until it changes or is too old. */
export class CachedList<T> {
  readonly #source: Source<T>;
  readonly #kept = new WeakMap<Connection, Kept<T>>();

  constructor(source: Source<T>) {
    this.#source = source;
  }

  isOffered({ capabilities }: Connection): boolean {
    return capabilities[this.#source.offer] !== undefined;
  }

  /** What was listed last, however old; undefined if nothing was. */
  last(connection: Connection): readonly T[] | undefined {
    return this.#kept.get(connection)?.last;
  }

  /** What it lists now; nothing if it never said that it has any. Those who ask at once share one answer. */
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
        const heldMs = ttlMs ?? (hasNotifications ? Number.POSITIVE_INFINITY : UNTOLD_MS);
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

/** Who has resources need not have templates of them, nor know how to list them. */
function nothingIfUnknown<T>(failure: unknown): Discovered<T> {
  if (failure instanceof ServerFault && failure.code === METHOD_NOT_FOUND)
    return { items: [], diagnostics: [] };
  throw failure;
}
