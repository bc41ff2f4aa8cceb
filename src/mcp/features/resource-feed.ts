import { backoffMs } from '../../base/async/backoff.ts';
import { startTimer } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../errors/host-error.ts';

/** Hears what a server tells of the resources that are subscribed to. */
type FeedListener = {
  changed(uri: string): void;
  /** Something may have changed unnoticed. */
  missed(): void;
};

/** The subscriptions of one connection, by what its era has for that; those of one group are made and ended one after the other. */
export class ResourceFeed {
  readonly connection: Connection;
  readonly #watch: ResourceSubscriber;
  readonly #uris = new Set<string>();
  readonly #unlisten: (() => void)[];
  /** The last change of each group, as long as it goes on. */
  readonly #changes = new Map<string, Promise<void>>();

  constructor(connection: Connection, listener: FeedListener) {
    this.connection = connection;
    const isModern = connection.era === 'modern';
    this.#watch = isModern
      ? statelessSubscriber(connection, () => listener.missed())
      : legacySubscriber(connection);
    const stopListening = connection.onNotification?.((method, { uri }) => {
      if (method === 'notifications/resources/updated' && typeof uri === 'string') listener.changed(uri);
    });
    // In the older protocol lists and resources are told of on one stream; a gap in it is one for both.
    const gap = connection.onListChanged((kind) => kind === 'all' && !isModern && listener.missed());
    this.#unlisten = [...(stopListening ? [stopListening] : []), gap, connection.onClose(() => this.close())];
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
/** How one connection is told which resources to tell of. */
type ResourceSubscriber = {
  /** Resolves once the server tells of `fresh` too; `all` is those and what it told of before. `signal` ends the wait for that. */
  begin(fresh: readonly string[], all: readonly string[], signal?: AbortSignal): Promise<void>;
  /** It need not tell of that any more; `rest` is what is left. */
  end(uri: string, rest: readonly string[]): Promise<void>;
  close(): void;
};

/** How long a server may take to say that it will tell. */
const CONFIRM_MS = 30_000;

/** Timeout of an unsubscribe request. */
const END_MS = 5000;

/** The older protocol: a request for each resource, and another that ends it. */
function legacySubscriber({ request: ask }: Pick<Connection, 'request'>): ResourceSubscriber {
  const end = async (uri: string) => {
    await ask('resources/unsubscribe', { uri }, { timeoutMs: END_MS });
  };
  const begin = async (uri: string, signal: AbortSignal | undefined) => {
    try {
      await ask('resources/subscribe', { uri }, { timeoutMs: CONFIRM_MS, ...(signal && { signal }) });
    } catch (failure) {
      // Who has not answered may have subscribed all the same.
      if (signal?.aborted || isLate(failure)) await end(uri).catch(() => {});
      throw failure;
    }
  };
  return {
    async begin(fresh, _all, signal) {
      signal?.throwIfAborted();
      await Promise.all(fresh.map((uri) => begin(uri, signal)));
    },
    end,
    close() {},
  };
}

function isLate(failure: unknown): boolean {
  return failure instanceof HostError && failure.code === 'timeout';
}

const BACKOFF = { firstMs: 250, maxMs: 30_000 };
/** A stream that lasted so long was a good one: the next is opened soon. */
const GOOD_MS = 10_000;

/**
 * The stateless protocol: one stream that tells of all of them. Another set of resources is another stream, opened before
 * the old one is closed; one that breaks is opened again, and `onMissed` hears of that.
 */
export function statelessSubscriber(connection: Connection, onMissed: () => void): ResourceSubscriber {
  /** What the server has agreed to tell of. */
  let agreed: readonly string[] = [];
  let current: AbortController | undefined;
  let wait: NodeJS.Timeout | undefined;
  let failures = 0;
  let isOver = false;
  let turns: Promise<unknown> = Promise.resolve();

  /** One after the other: what the server agrees to does not say which question it answers. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turns.then(work);
    turns = done.catch(() => {});
    return done;
  };
  const open = async (uris: readonly string[], signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    const life = new AbortController();
    const giveUp = () => life.abort();
    signal?.addEventListener('abort', giveUp);
    // Once acknowledged, the stream is shared by all listeners.
    const { ended } = await listen(connection, uris, life).finally(() =>
      signal?.removeEventListener('abort', giveUp),
    );
    if (isOver) return life.abort();
    current?.abort();
    current = life;
    agreed = uris;
    const since = performance.now();
    void ended.then(() => {
      if (performance.now() - since > GOOD_MS) failures = 0;
      if (current === life) reopen();
    });
  };
  const reopen = () => {
    current = undefined;
    if (isOver || agreed.length === 0) return;
    wait = startTimer(backoffMs(BACKOFF, ++failures), () => {
      const opened = inTurn(async () => {
        if (!current && !isOver && agreed.length > 0) await open(agreed);
      });
      opened.then(() => isOver || onMissed(), reopen);
    });
    wait.unref();
  };
  const close = () => {
    agreed = [];
    clearTimeout(wait);
    current?.abort();
    current = undefined;
  };

  return {
    begin: (_fresh, all, signal) => inTurn(() => open(all, signal)),
    end: (_uri, rest) => inTurn(async () => (rest.length > 0 ? open(rest) : close())),
    close() {
      isOver = true;
      close();
    },
  };
}

/** Resolves once the server has agreed, with what settles at the end of the stream; rejects if it does not agree. */
async function listen(
  connection: Connection,
  uris: readonly string[],
  life: AbortController,
): Promise<{ ended: Promise<void> }> {
  const answer = Promise.withResolvers<void>();
  const refuse = (detail: string) => answer.reject(new HostError('unreachable', connection.name, detail));
  const stop = connection.onNotification?.((method, params) => {
    if (method !== ACKNOWLEDGED || !isOwn(params)) return;
    const missing = uris.find((uri) => !honored(params).includes(uri));
    if (missing === undefined) answer.resolve();
    else refuse(`it does not tell of changes of ${missing}`);
  });
  const params = { notifications: { resourceSubscriptions: [...uris] } };
  const asked = connection.request('subscriptions/listen', params, { signal: life.signal });
  const ended = asked.then(
    () => refuse('it ended the subscription before it confirmed it'),
    (failure: unknown) => answer.reject(failure),
  );
  const timer = startTimer(CONFIRM_MS, () =>
    refuse(`it did not confirm the subscription within ${CONFIRM_MS / 1000} s`),
  );
  try {
    await answer.promise;
    return { ended };
  } catch (failure) {
    life.abort();
    throw failure;
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** Our requests are numbered; the stream for changed lists has a name. */
function isOwn({ _meta }: Readonly<Record<string, unknown>>): boolean {
  const id = isRecord(_meta) ? _meta[SUBSCRIPTION_ID] : undefined;
  return id === undefined || Number.isInteger(Number(id));
}

function honored({ notifications }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const uris = isRecord(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris : [];
}
