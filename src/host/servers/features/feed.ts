import type { Connection } from '../../connect/connection.ts';
import { legacyWatch } from './legacy-watch.ts';
import { modernWatch } from './modern-watch.ts';

/** Hears what a server tells of the resources that are subscribed to. */
type FeedListener = {
  changed(uri: string): void;
  /** Something may have changed unnoticed. */
  missed(): void;
};

/** The subscriptions of one connection, made and ended one after the other, by what its era has for that. */
export class Feed {
  readonly connection: Connection;
  readonly #watch: ReturnType<typeof legacyWatch>;
  readonly #uris = new Set<string>();
  readonly #unlisten: (() => void)[];
  #changes: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, listener: FeedListener) {
    this.connection = connection;
    const isModern = connection.era === 'modern';
    this.#watch = isModern ? modernWatch(connection, () => listener.missed()) : legacyWatch(connection);
    const heard = connection.onNotice?.((method, { uri }) => {
      if (method === 'notifications/resources/updated' && typeof uri === 'string') listener.changed(uri);
    });
    // In the older protocol lists and resources are told of on one stream; a gap in it is one for both.
    const gap = connection.onListChanged((kind) => kind === 'all' && !isModern && listener.missed());
    this.#unlisten = [...(heard ? [heard] : []), gap, connection.onClose(() => this.close())];
  }

  /** Resolves once the server tells of them all; rejects as a request does, and then nothing is added. */
  add(uris: readonly string[]): Promise<void> {
    return this.#change(async () => {
      const fresh = uris.filter((uri) => !this.#uris.has(uri));
      if (fresh.length === 0) return;
      await this.#watch.begin(fresh, [...this.#uris, ...fresh]);
      for (const uri of fresh) this.#uris.add(uri);
    });
  }

  /** Never rejects: a server that cannot be told any more tells us of nothing either. */
  async remove(uri: string): Promise<void> {
    const removed = this.#change(async () => {
      if (this.#uris.delete(uri)) await this.#watch.end(uri, [...this.#uris]);
    });
    await removed.catch(() => {});
  }

  close(): void {
    for (const stop of this.#unlisten.splice(0)) stop();
    this.#watch.close();
  }

  #change(work: () => Promise<void>): Promise<void> {
    const done = this.#changes.then(work);
    this.#changes = done.catch(() => {});
    return done;
  }
}
