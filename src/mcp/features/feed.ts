import type { Connection } from '../connection/connection.ts';
import { legacyWatch } from './legacy-watch.ts';
import { modernWatch } from './modern-watch.ts';
import type { Watch } from './watch.ts';

/** Hears what a server tells of the resources that are subscribed to. */
type FeedListener = {
  changed(uri: string): void;
  /** Something may have changed unnoticed. */
  missed(): void;
};

/** The subscriptions of one connection, by what its era has for that; those of one group are made and ended one after the other. */
export class Feed {
  readonly connection: Connection;
  readonly #watch: Watch;
  readonly #uris = new Set<string>();
  readonly #unlisten: (() => void)[];
  /** The last change of each group, as long as it goes on. */
  readonly #changes = new Map<string, Promise<void>>();

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

  /** The newer protocol has one stream for all, the older one a request for each: one that hangs holds up no other. */
  groups(uris: readonly string[]): (readonly string[])[] {
    return this.connection.era === 'modern' ? [uris] : uris.map((uri) => [uri]);
  }

  /** Resolves once the server tells of the whole group; rejects as a request does, and then nothing is added. */
  add(group: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#change(group, async () => {
      const fresh = group.filter((uri) => !this.#uris.has(uri));
      if (fresh.length === 0) return;
      await this.#watch.begin(fresh, [...this.#uris, ...fresh], signal);
      for (const uri of fresh) this.#uris.add(uri);
    });
  }

  /** Never rejects: a server that cannot be told any more tells us of nothing either. */
  async remove(uri: string): Promise<void> {
    const removed = this.#change([uri], async () => {
      if (this.#uris.delete(uri)) await this.#watch.end(uri, [...this.#uris]);
    });
    await removed.catch(() => {});
  }

  close(): void {
    for (const stop of this.#unlisten.splice(0)) stop();
    this.#watch.close();
  }

  #change([first = '']: readonly string[], work: () => Promise<void>): Promise<void> {
    const key = this.connection.era === 'modern' ? '' : first;
    const done = (this.#changes.get(key) ?? Promise.resolve()).then(work);
    const over = done
      .catch(() => {})
      .then(() => {
        if (this.#changes.get(key) === over) this.#changes.delete(key);
      });
    this.#changes.set(key, over);
    return done;
  }
}
