import type { Client, ServerCapabilities, SubscriptionFilter } from '@modelcontextprotocol/client';
import { backoffMs, startTimer } from '../../base/async/timers.ts';

import { isRecord } from '../../base/json-value.ts';
import { CHANNEL, LOG_LEVELS, type LogLevel } from '../../protocol/mcp.ts';
import type { ServerLog } from './connect-context.ts';

/** Which list of a server changed; `all` after a gap in the stream. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'all';

/** Dispatches notifications of a server by kind. */
export class Notifications {
  readonly listChanged = new Listeners<[kind: ListKind]>();
  readonly all = new Listeners<[method: string, params: Readonly<Record<string, unknown>>]>();
  readonly transportError = new Listeners();
  readonly closed = new Listeners();
  readonly #log = new Listeners<[entry: ServerLog]>();

  constructor(onLog: ((entry: ServerLog) => void) | undefined) {
    if (onLog) this.#log.on(onLog);
  }

  /** Takes one message; responses and requests are ignored. */
  receive({ id, method, params: given }: Record<string, unknown>): void {
    if (id !== undefined || typeof method !== 'string') return;
    const params = isRecord(given) ? given : {};
    const list = LISTS.get(method);
    if (list) this.listChanged.emit(list);
    if (method === 'notifications/message') this.#log.emit(readLog(params));
    this.all.emit(method, params);
  }
}

const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/list_changed', 'all'],
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

function readLog({ level, logger, data }: Record<string, unknown>): ServerLog {
  return {
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger }),
    data,
  };
}

/** Whether a log message has at least this level. Messages of an unknown level pass. */
export function isLogged({ level }: ServerLog, min: LogLevel | undefined): boolean {
  const rank = (LOG_LEVELS as readonly string[]).indexOf(level);
  return min === undefined || rank === -1 || rank >= LOG_LEVELS.indexOf(min);
}

const BACKOFF = { firstMs: 250, maxMs: 30_000 };
/** A stream that lasted this long resets the backoff. */
const STABLE_MS = 10_000;
const METHOD_NOT_FOUND = -32601;

/** Keeps the stream open on which a server of the stateless protocol reports list changes. */
export class ListStream {
  readonly #client: Pick<Client, 'listen' | 'transport'>;
  readonly #filter: SubscriptionFilter;
  /** Called when list changes may have been missed. */
  readonly #onGap: () => void;
  readonly #life = new AbortController();
  #wait: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(client: Pick<Client, 'listen' | 'transport'>, filter: SubscriptionFilter, onGap: () => void) {
    this.#client = client;
    this.#filter = filter;
    this.#onGap = onGap;
  }

  /** Resolves once the stream is open or has failed; never rejects. */
  async open(): Promise<'open' | 'failed'> {
    const { signal } = this.#life;
    try {
      const { closed } = await this.#client.listen(this.#filter, { signal });
      const since = performance.now();
      void closed.then(() => {
        if (performance.now() - since > STABLE_MS) this.#failures = 0;
        this.#reopen();
      });
      return 'open';
    } catch (failure) {
      // METHOD_NOT_FOUND is permanent: the server does not implement the method.
      if ((failure as { code?: unknown }).code !== METHOD_NOT_FOUND) this.#reopen();
      return 'failed';
    }
  }

  close(): void {
    this.#life.abort();
    clearTimeout(this.#wait);
  }

  #reopen(): void {
    if (this.#life.signal.aborted || this.#client.transport === undefined) return;
    const ms = backoffMs(BACKOFF, ++this.#failures);
    this.#wait = startTimer(ms, () => {
      void this.open().then((state) => state === 'open' && this.#onGap());
    });
    this.#wait.unref();
  }
}

/** The list changes that a server supports; undefined if there are none. */
export function listFilter(capabilities: ServerCapabilities): SubscriptionFilter | undefined {
  const filter: SubscriptionFilter = {
    ...(capabilities.tools?.listChanged && { toolsListChanged: true }),
    ...(capabilities.prompts?.listChanged && { promptsListChanged: true }),
    ...(capabilities.resources?.listChanged && { resourcesListChanged: true }),
    // The stream also carries the messages of a channel.
    ...(capabilities.experimental?.[CHANNEL.capability] && { [CHANNEL.capability]: true }),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}

/** Listeners of one kind of event of a connection. */
export class Listeners<Facts extends unknown[] = []> {
  readonly #listeners = new Set<(...facts: Facts) => void>();

  /** Returns a function that removes the listener. */
  readonly on = (listener: (...facts: Facts) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A listener that throws does not affect the others or the caller. */
  emit(...facts: Facts): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...facts);
      } catch {}
    }
  }
}
