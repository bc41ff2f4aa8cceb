import { Broadcast } from '../../base/async/broadcast.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Connection } from '../connection/connection.ts';
import { notOfferedError } from './feature-errors.ts';
import { ResourceFeed } from './resource-feed.ts';

/** A subscription to a resource; ends with `unsubscribe()` or `await using`. Neither rejects. */
export type Subscription = AsyncDisposable & { unsubscribe(): Promise<void> };

/** What is subscribed to of one server, whatever connection it has. */
type ServerSubscriptions = { feed: ResourceFeed | undefined; readonly topics: SubscribedResources };

type SubscriptionDeps = {
  connection(server: string): Connection | undefined;
  /** Hears of what could not be subscribed to again. */
  onWarning(server: string, message: string): void;
};

/** Who hears of changed resources: one subscription for all listeners of one resource, made again after each reconnect. */
export class Subscriptions implements Disposable {
  readonly #around: SubscriptionDeps;
  readonly #books = new Map<string, ServerSubscriptions>();

  constructor(around: SubscriptionDeps) {
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
    if (!isWilling(connection)) throw notOfferedError(connection.name, WHAT);
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

  #bookOf(server: string): ServerSubscriptions {
    const book = this.#books.get(server) ?? { feed: undefined, topics: new SubscribedResources() };
    this.#books.set(server, book);
    return book;
  }

  #feedOf(book: ServerSubscriptions, connection: Connection): ResourceFeed {
    if (book.feed?.connection === connection) return book.feed;
    book.feed?.close();
    const feed = new ResourceFeed(connection, {
      changed: (uri) => book.topics.changed(uri),
      missed: () => book.topics.notify(),
    });
    book.feed = feed;
    const before = book.topics.uris();
    if (before.length > 0) for (const group of feed.groups(before)) void this.#renew(book, feed, group);
    return feed;
  }

  /** Subscribes again after a reconnect and notifies all listeners, because changes may have been missed. */
  async #renew(book: ServerSubscriptions, feed: ResourceFeed, uris: readonly string[]): Promise<void> {
    const [first = ''] = uris;
    const signal = uris.length === 1 ? book.topics.signal(first) : undefined;
    try {
      if (!isWilling(feed.connection)) throw notOfferedError(feed.connection.name, WHAT);
      await feed.add(uris, signal);
      book.topics.notify(uris);
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

/** The place of one listener. */
type ListenerHandle = {
  /** Aborted once the resource has no listeners. */
  readonly signal: AbortSignal;
  /** Whether that was the last who listened to it. */
  leave(): boolean;
};

type SubscribedResource = {
  readonly href: string;
  readonly listeners: Broadcast<void>;
  readonly over: AbortController;
  users: number;
};

/** Who listens to which resource of one server. */
export class SubscribedResources {
  readonly #topics = new Map<string, SubscribedResource>();
  readonly #changed = new Set<string>();

  uris(): string[] {
    return [...this.#topics.keys()];
  }

  join(uri: string, listener: () => void): ListenerHandle {
    const topic = this.#topics.get(uri) ?? newTopic(uri);
    this.#topics.set(uri, topic);
    topic.users++;
    // The same function may listen twice.
    const listening = topic.listeners.on(() => listener());
    return {
      signal: topic.over.signal,
      leave: () => {
        listening[Symbol.dispose]();
        if (--topic.users > 0 || this.#topics.get(uri) !== topic) return false;
        this.#topics.delete(uri);
        topic.over.abort();
        return true;
      },
    };
  }

  /** Aborted while the resource has no listeners. */
  signal(uri: string): AbortSignal {
    return this.#topics.get(uri)?.over.signal ?? AbortSignal.abort();
  }

  /** Collects changes of one tick, so that each listener is notified once. */
  changed(uri: string): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#notifyChanged());
    this.#changed.add(uri);
  }

  /** Notifies the listeners of these resources, by default of all. */
  notify(uris: Iterable<string> = this.uris()): void {
    for (const uri of uris) this.#topics.get(uri)?.listeners.emit();
  }

  clear(): void {
    this.#topics.clear();
  }

  #notifyChanged(): void {
    const hasNotifications = isAffectedBy(Array.from(this.#changed, hrefOf));
    this.#changed.clear();
    const concerned = [...this.#topics].filter(([, { href }]) => hasNotifications(href));
    this.notify(concerned.map(([uri]) => uri));
  }
}

function newTopic(uri: string): SubscribedResource {
  return { href: hrefOf(uri), listeners: new Broadcast<void>(), over: new AbortController(), users: 0 };
}
/** Says who hears of these changes: who subscribed to the same resource, or to one that it is within. All are hrefs. */
export function isAffectedBy(changed: readonly string[]): (subscribed: string) => boolean {
  const same = new Set(changed);
  // There may be thousands of changes and thousands who have subscribed: in order, each finds its own at once.
  const sorted = [...same].sort();
  return (subscribed) => {
    if (same.has(subscribed)) return true;
    const within = subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
    return sorted[firstFrom(sorted, within)]?.startsWith(within) === true;
  };
}

/** Servers may write an address in another way than it was given to them; in this way it is compared. */
export function hrefOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

/** Where the first stands that does not come before `least`. */
function firstFrom(sorted: readonly string[], least: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
