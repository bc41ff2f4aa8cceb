import { messageOf } from '../../protocol/sdk-error.ts';
import type { Connection } from '../connection/connection.ts';
import { notOffered } from './feature-fault.ts';
import { Feed } from './feed.ts';
import { Topics } from './topics.ts';

/** A subscription to a resource; ends with `unsubscribe()` or `await using`. Neither rejects. */
export type Subscription = AsyncDisposable & { unsubscribe(): Promise<void> };

/** What is subscribed to of one server, whatever connection it has. */
type Book = { feed: Feed | undefined; readonly topics: Topics };

type Surroundings = {
  connection(server: string): Connection | undefined;
  /** Hears of what could not be subscribed to again. */
  onWarning(server: string, message: string): void;
};

/** Who hears of changed resources: one subscription for all listeners of one resource, made again after each reconnect. */
export class Subscriptions implements Disposable {
  readonly #around: Surroundings;
  readonly #books = new Map<string, Book>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /**
   * Resolves once the server tells of changes; rejects as a request does, or if the server never said it would. Once
   * `signal` is aborted nobody hears of anything, and the server is no longer waited for on their account.
   */
  async add(
    connection: Connection,
    uri: string,
    listener: () => void,
    signal: AbortSignal,
  ): Promise<Subscription> {
    if (!isWilling(connection)) throw notOffered(connection.name, WHAT);
    const book = this.#bookOf(connection.name);
    const feed = this.#feedOf(book, connection);
    const seat = book.topics.join(uri, listener);
    let left: Promise<void> | undefined;
    const leave = async () => {
      if (seat.leave()) await book.feed?.remove(uri);
    };
    const unsubscribe = () => {
      left ??= leave();
      return left;
    };
    signal.addEventListener('abort', unsubscribe);
    try {
      await feed.add([uri], seat.signal);
    } catch (failure) {
      void unsubscribe();
      throw failure;
    }
    return { unsubscribe, [Symbol.asyncDispose]: unsubscribe };
  }

  /** Something became of a server: what was subscribed to on its last connection is subscribed to on a new one. */
  follow(server: string): void {
    const book = this.#books.get(server);
    const connection = this.#around.connection(server);
    if (book && book.topics.uris().length > 0 && connection) this.#feedOf(book, connection);
  }

  [Symbol.dispose](): void {
    for (const { feed, topics } of this.#books.values()) {
      feed?.close();
      topics.clear();
    }
    this.#books.clear();
  }

  #bookOf(server: string): Book {
    const book = this.#books.get(server) ?? { feed: undefined, topics: new Topics() };
    this.#books.set(server, book);
    return book;
  }

  #feedOf(book: Book, connection: Connection): Feed {
    if (book.feed?.connection === connection) return book.feed;
    book.feed?.close();
    const feed = new Feed(connection, {
      changed: (uri) => book.topics.changed(uri),
      missed: () => book.topics.tell(),
    });
    book.feed = feed;
    const before = book.topics.uris();
    if (before.length > 0) for (const group of feed.groups(before)) void this.#renew(book, feed, group);
    return feed;
  }

  /** What happened since the last connection was lost nobody knows, so everybody is told. */
  async #renew(book: Book, feed: Feed, uris: readonly string[]): Promise<void> {
    const [first = ''] = uris;
    const signal = uris.length === 1 ? book.topics.signal(first) : undefined;
    try {
      if (!isWilling(feed.connection)) throw notOffered(feed.connection.name, WHAT);
      await feed.add(uris, signal);
      book.topics.tell(uris);
    } catch (failure) {
      if (signal?.aborted) return;
      if (book.feed !== feed || this.#around.connection(feed.connection.name) !== feed.connection) return;
      // One that is gone must not take the others along.
      if (uris.length > 1) await Promise.all(uris.map((uri) => this.#renew(book, feed, [uri])));
      else
        this.#around.onWarning(
          feed.connection.name,
          `${first} is no longer subscribed to, until it is connected again: ${messageOf(failure)}`,
        );
    }
  }
}

const WHAT = 'subscriptions to resources';

function isWilling({ capabilities }: Connection): boolean {
  return capabilities.resources?.subscribe === true;
}
