import { backoffMs, startTimer } from '../../base/async/timers.ts';

import { isRecord } from '../../base/json-value.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../errors/host-error.ts';

/** Receives updates of subscribed resources. */
type FeedListener = {
  changed(uri: string): void;
  /** Updates may have been missed. */
  missed(): void;
};

/** The resource subscriptions of one connection, in its protocol era; changes of one group run one after the other. */
export class ResourceFeed {
  readonly connection: Connection;
  readonly #watch: ResourceSubscriber;
  readonly #uris = new Set<string>();
  readonly #unlisten: (() => void)[];
  /** The running change of each group. */
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
    // In the legacy protocol, list changes and resource updates share one stream, so a gap affects both.
    const gap = connection.onListChanged((kind) => kind === 'all' && !isModern && listener.missed());
    this.#unlisten = [...(stopListening ? [stopListening] : []), gap, connection.onClose(() => this.close())];
  }

  /** The stateless protocol has one stream for all URIs; the legacy protocol has one request per URI, independent of the others. */
  groups(uris: readonly string[]): (readonly string[])[] {
    return this.connection.era === 'modern' ? [uris] : uris.map((uri) => [uri]);
  }

  /** Resolves once the server has confirmed the group; on rejection nothing is added. */
  add(group: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#change(group, async () => {
      const fresh = group.filter((uri) => !this.#uris.has(uri));
      if (fresh.length === 0) return;
      await this.#watch.begin(fresh, [...this.#uris, ...fresh], signal);
      for (const uri of fresh) this.#uris.add(uri);
    });
  }

  /** Never rejects: if the server is unreachable, the subscription has ended anyway. */
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

/** Subscribes to resources in one protocol era. */
type ResourceSubscriber = {
  /** Resolves once the server has confirmed `fresh`; `all` includes the earlier ones. `signal` ends the wait. */
  begin(fresh: readonly string[], all: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Ends one subscription; `rest` are the remaining ones. */
  end(uri: string, rest: readonly string[]): Promise<void>;
  close(): void;
};

/** Timeout for the confirmation of a subscription. */
const CONFIRM_MS = 30_000;

/** Timeout of an unsubscribe request. */
const END_MS = 5000;

/** The legacy protocol: one subscribe and one unsubscribe request per resource. */
function legacySubscriber({ request: ask }: Pick<Connection, 'request'>): ResourceSubscriber {
  const end = async (uri: string) => {
    await ask('resources/unsubscribe', { uri }, { timeoutMs: END_MS });
  };
  const begin = async (uri: string, signal: AbortSignal | undefined) => {
    try {
      await ask('resources/subscribe', { uri }, { timeoutMs: CONFIRM_MS, ...(signal && { signal }) });
    } catch (failure) {
      // A server that did not answer may still have subscribed.
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
/** A stream that lasted this long resets the backoff. */
const GOOD_MS = 10_000;

/**
 * The stateless protocol: one stream for all resources. A changed set of resources opens a new stream before the old one
 * is closed; a broken stream is reopened, and `onMissed` is called.
 */
export function statelessSubscriber(connection: Connection, onMissed: () => void): ResourceSubscriber {
  /** The URIs that the server has confirmed. */
  let agreed: readonly string[] = [];
  let current: AbortController | undefined;
  let wait: NodeJS.Timeout | undefined;
  let failures = 0;
  let isOver = false;
  let turns: Promise<unknown> = Promise.resolve();

  /** Requests run one after the other, since an acknowledgement does not say which request it belongs to. */
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

/** Resolves once the server has acknowledged, with a promise for the end of the stream; rejects if the server refuses. */
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
    else refuse(`the server does not send updates for ${missing}`);
  });
  const params = { notifications: { resourceSubscriptions: [...uris] } };
  const asked = connection.request('subscriptions/listen', params, { signal: life.signal });
  const ended = asked.then(
    () => refuse('the server ended the subscription before confirming it'),
    (failure: unknown) => answer.reject(failure),
  );
  const timer = startTimer(CONFIRM_MS, () =>
    refuse(`the server did not confirm the subscription within ${CONFIRM_MS / 1000} s`),
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

/** Our request ids are numbers; the stream for list changes has a named id. */
function isOwn({ _meta }: Readonly<Record<string, unknown>>): boolean {
  const id = isRecord(_meta) ? _meta[SUBSCRIPTION_ID] : undefined;
  return id === undefined || Number.isInteger(Number(id));
}

function honored({ notifications }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const uris = isRecord(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris : [];
}
