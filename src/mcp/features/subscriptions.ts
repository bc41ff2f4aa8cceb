import { Broadcast } from '../../base/async/broadcast.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Connection } from '../connection/connection.ts';
import { notOfferedError } from './feature-results.ts';
import { ResourceFeed } from './resource-feed.ts';

/** A subscription to a resource; ends with `unsubscribe()` or `await using`. Neither rejects. */
export type Subscription = AsyncDisposable & { unsubscribe(): Promise<void> };

/** The subscriptions of one server, across connections. */
type ServerSubscriptions = { feed: ResourceFeed | undefined; readonly topics: SubscribedResources };

type SubscriptionDeps = {
  connection(server: string): Connection | undefined;
  /** Called when a subscription could not be renewed. */
  onWarning(server: string, message: string): void;
};

/** Shares one subscription among all listeners of a resource and renews it after each reconnect. */
export class Subscriptions implements Disposable {
  readonly #deps: SubscriptionDeps;
  readonly #servers = new Map<string, ServerSubscriptions>();

  constructor(deps: SubscriptionDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves once the server has confirmed the subscription; rejects if the request fails or the server does not support
   * subscriptions. Aborting `signal` removes the listener and ends the wait.
   */
  async add(
    connection: Connection,
    uri: string,
    listener: () => void,
    signal: AbortSignal,
  ): Promise<Subscription> {
    if (!canSubscribe(connection)) throw notOfferedError(connection.name, WHAT);
    const server = this.#serverOf(connection.name);
    const feed = this.#feedOf(server, connection);
    const handle = server.topics.join(uri, listener);
    let left: Promise<void> | undefined;
    const leave = async () => {
      if (handle.leave()) await server.feed?.remove(uri);
    };
    const unsubscribe = () => {
      left ??= leave();
      return left;
    };
    signal.addEventListener('abort', unsubscribe);
    try {
      await feed.add([uri], handle.signal);
    } catch (failure) {
      void unsubscribe();
      throw failure;
    }
    return { unsubscribe, [Symbol.asyncDispose]: unsubscribe };
  }

  /** To be called after each state change of a server: renews the subscriptions on a new connection. */
  follow(name: string): void {
    const server = this.#servers.get(name);
    const connection = this.#deps.connection(name);
    if (server && server.topics.uris().length > 0 && connection) this.#feedOf(server, connection);
  }

  [Symbol.dispose](): void {
    for (const { feed, topics } of this.#servers.values()) {
      feed?.close();
      topics.clear();
    }
    this.#servers.clear();
  }

  #serverOf(name: string): ServerSubscriptions {
    const server = this.#servers.get(name) ?? { feed: undefined, topics: new SubscribedResources() };
    this.#servers.set(name, server);
    return server;
  }

  #feedOf(server: ServerSubscriptions, connection: Connection): ResourceFeed {
    if (server.feed?.connection === connection) return server.feed;
    server.feed?.close();
    const feed = new ResourceFeed(connection, {
      changed: (uri) => server.topics.changed(uri),
      missed: () => server.topics.notify(),
    });
    server.feed = feed;
    const before = server.topics.uris();
    if (before.length > 0) for (const group of feed.groups(before)) void this.#renew(server, feed, group);
    return feed;
  }

  /** Subscribes again after a reconnect and notifies all listeners, because changes may have been missed. */
  async #renew(server: ServerSubscriptions, feed: ResourceFeed, uris: readonly string[]): Promise<void> {
    const [first = ''] = uris;
    const signal = uris.length === 1 ? server.topics.signal(first) : undefined;
    try {
      if (!canSubscribe(feed.connection)) throw notOfferedError(feed.connection.name, WHAT);
      await feed.add(uris, signal);
      server.topics.notify(uris);
    } catch (failure) {
      if (signal?.aborted) return;
      if (server.feed !== feed || this.#deps.connection(feed.connection.name) !== feed.connection) return;
      // A resource that no longer exists must not affect the others.
      if (uris.length > 1) await Promise.all(uris.map((uri) => this.#renew(server, feed, [uri])));
      else
        this.#deps.onWarning(
          feed.connection.name,
          `the subscription to ${first} failed and is retried after the next reconnect: ${messageOf(failure)}`,
        );
    }
  }
}

const WHAT = 'subscriptions to resources';

function canSubscribe({ capabilities }: Connection): boolean {
  return capabilities.resources?.subscribe === true;
}

/** The registration of one listener. */
type ListenerHandle = {
  /** Aborted once the resource has no listeners. */
  readonly signal: AbortSignal;
  /** Removes the listener; true if it was the last one of the resource. */
  leave(): boolean;
};

type SubscribedResource = {
  readonly href: string;
  readonly listeners: Broadcast<void>;
  readonly over: AbortController;
  users: number;
};

/** The listeners of the resources of one server. */
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

/** Whether a subscription is affected by these changes: to the same resource, or to one that contains it. All are hrefs. */
export function isAffectedBy(changed: readonly string[]): (subscribed: string) => boolean {
  const same = new Set(changed);
  // Sorted for a binary search: there may be thousands of changes and subscriptions.
  const sorted = [...same].sort();
  return (subscribed) => {
    if (same.has(subscribed)) return true;
    const within = subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
    return sorted[firstFrom(sorted, within)]?.startsWith(within) === true;
  };
}

/** Normalizes a URI for comparison, since a server may write it differently. */
export function hrefOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

/** Index of the first element that is not less than `least`. */
function firstFrom(sorted: readonly string[], least: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
