import { Broadcast } from '../../../base/broadcast.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { Connection } from '../../connect/connection.ts';
import { notOffered } from './feature-fault.ts';
import { Feed } from './feed.ts';
import { isToldOf } from './told-of.ts';

/** Ends with `unsubscribe()` or `await using`; neither ever rejects. */
export type Subscription = AsyncDisposable & { unsubscribe(): Promise<void> };

type Topic = { readonly heard: Broadcast<void>; users: number };
/** What is subscribed to of one server, whatever connection it has. */
type Book = { feed: Feed | undefined; readonly topics: Map<string, Topic> };

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

  /** Resolves once the server tells of changes; rejects as a request does, or if the server never said it would. */
  async add(connection: Connection, uri: string, listener: () => void): Promise<Subscription> {
    if (!isWilling(connection)) throw notOffered(connection.name, WHAT);
    const book = this.#bookOf(connection.name);
    const feed = this.#feedOf(book, connection);
    const topic = book.topics.get(uri) ?? { heard: new Broadcast<void>(), users: 0 };
    book.topics.set(uri, topic);
    topic.users++;
    // The same function may listen twice.
    const listening = topic.heard.on(() => listener());
    let left: Promise<void> | undefined;
    const leave = async () => {
      listening[Symbol.dispose]();
      if (--topic.users > 0 || book.topics.get(uri) !== topic) return;
      book.topics.delete(uri);
      await book.feed?.remove(uri);
    };
    const unsubscribe = () => {
      left ??= leave();
      return left;
    };
    try {
      await feed.add([uri]);
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
    if (book && book.topics.size > 0 && connection) this.#feedOf(book, connection);
  }

  [Symbol.dispose](): void {
    for (const { feed, topics } of this.#books.values()) {
      feed?.close();
      topics.clear();
    }
    this.#books.clear();
  }

  #bookOf(server: string): Book {
    const book = this.#books.get(server) ?? { feed: undefined, topics: new Map() };
    this.#books.set(server, book);
    return book;
  }

  #feedOf(book: Book, connection: Connection): Feed {
    if (book.feed?.connection === connection) return book.feed;
    book.feed?.close();
    const feed = new Feed(connection, {
      changed: (uri) => tell(book, (it) => isToldOf(it, uri)),
      missed: () => tell(book, () => true),
    });
    book.feed = feed;
    const before = [...book.topics.keys()];
    if (before.length > 0) void this.#renew(book, feed, before);
    return feed;
  }

  /** What happened since the last connection was lost nobody knows, so everybody is told. */
  async #renew(book: Book, feed: Feed, uris: readonly string[]): Promise<void> {
    try {
      if (!isWilling(feed.connection)) throw notOffered(feed.connection.name, WHAT);
      await feed.add(uris);
      tell(book, (it) => uris.includes(it));
    } catch (failure) {
      if (book.feed !== feed || this.#around.connection(feed.connection.name) !== feed.connection) return;
      // One that is gone must not take the others along.
      if (uris.length > 1) await Promise.all(uris.map((uri) => this.#renew(book, feed, [uri])));
      else
        this.#around.onWarning(
          feed.connection.name,
          `${uris[0]} is no longer subscribed to, until it is connected again: ${messageOf(failure)}`,
        );
    }
  }
}

const WHAT = 'subscriptions to resources';

function isWilling({ capabilities }: Connection): boolean {
  return capabilities.resources?.subscribe === true;
}

function tell({ topics }: Book, isMeant: (uri: string) => boolean): void {
  for (const [uri, { heard }] of [...topics]) if (isMeant(uri)) heard.emit();
}
