import { type Clock, pause } from '../../base/async/timers.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Connection, ListKind } from '../connection/connection.ts';
import type { Prompt } from '../discovery/list-entries.ts';
import type { Discovered, DiscoveryDiagnostic } from '../discovery/read-list.ts';
import { listPrompts, listTools } from '../discovery/request-lists.ts';

/** The lists that are kept for every server; resources are listed on request. */
export type RefreshedList = 'tools' | 'prompts';

/** The current lists of a server with their diagnostics. */
export type Listing = {
  readonly tools: Discovered<ListedTool>;
  readonly prompts: Discovered<Prompt>;
};

export const REFRESHED_LISTS: readonly RefreshedList[] = ['tools', 'prompts'];

/** Lower bound for a server-supplied TTL. */
const MIN_TTL_MS = 1_000;
/** The same if the server sends list_changed notifications, so that polling is only a safeguard. */
const MIN_TTL_WITH_NOTIFICATIONS_MS = 300_000;
/** Delay after a failed listing. */
const RETRY_MS = 10_000;

/** The lists that a notification is about. */
export function listsChangedBy(kind: ListKind): readonly RefreshedList[] {
  if (kind === 'all') return REFRESHED_LISTS;
  return kind === 'resources' ? [] : [kind];
}

/** The lists of one connection. */
export class ServerLists {
  readonly #connection: Connection;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #dueAt = new Map<RefreshedList, number>();
  readonly #requested = { tools: 0, prompts: 0 };
  readonly #taken = { tools: 0, prompts: 0 };
  #listing: Listing = { tools: NOTHING, prompts: NOTHING };

  constructor(connection: Connection, clock: Pick<Clock, 'now'>) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Lists whose TTL has expired. */
  due(): RefreshedList[] {
    const now = this.#clock.now();
    return REFRESHED_LISTS.filter((list) => (this.#dueAt.get(list) ?? Number.POSITIVE_INFINITY) <= now);
  }

  /** Reads the given lists and returns all. Rejects if listing tools fails; a failure to list prompts is a diagnostic. */
  async read(which: Iterable<RefreshedList>, signal: AbortSignal): Promise<Listing> {
    const wanted = new Set(which);
    await Promise.all([
      wanted.has('tools') && this.#read('tools', () => listTools(this.#connection, { signal })),
      wanted.has('prompts') && this.#read('prompts', () => this.#prompts(signal)),
    ]);
    return this.#listing;
  }

  async #prompts(signal: AbortSignal): Promise<Discovered<Prompt>> {
    try {
      return await listPrompts(this.#connection, { signal });
    } catch (cause) {
      const { items, diagnostics } = this.#listing.prompts;
      const detail = `its prompts could not be listed: ${messageOf(cause)}`;
      const { name: server } = this.#connection;
      const diagnostic: DiscoveryDiagnostic = { server, list: 'prompts', fault: detail, outcome: 'list' };
      return { items, diagnostics: [...diagnostics.filter(({ fault: it }) => it !== detail), diagnostic] };
    }
  }

  /** A response to an earlier request never replaces one to a later request. */
  async #read<K extends RefreshedList>(list: K, ask: () => Promise<Listing[K]>): Promise<void> {
    const turn = ++this.#requested[list];
    if (this.#dueAt.has(list)) this.#dueAt.set(list, this.#clock.now() + RETRY_MS);
    const found = await ask();
    if (turn < this.#taken[list]) return;
    this.#taken[list] = turn;
    this.#plan(list, found.ttlMs);
    const { items } = this.#listing[list];
    // A complete earlier list is better than an incomplete new one.
    const isWorse = found.failure !== undefined && items.length > found.items.length;
    this.#listing = { ...this.#listing, [list]: isWorse ? { ...found, items } : found };
  }

  #plan(list: RefreshedList, ttlMs: number | undefined): void {
    if (ttlMs === undefined) {
      this.#dueAt.delete(list);
      return;
    }
    const hasNotifications = this.#connection.capabilities[list]?.listChanged === true;
    const minTtl = hasNotifications ? MIN_TTL_WITH_NOTIFICATIONS_MS : MIN_TTL_MS;
    this.#dueAt.set(list, this.#clock.now() + Math.max(minTtl, ttlMs));
  }
}

const NOTHING = { items: [], diagnostics: [] } as const;

/** Delay of the listing after a notification. Notifications come in bursts; one listing covers a burst. */
const BURST_MS = 50;
/** Maximum delay between listings, which grows for a server that reports a change after every listing. */
const MAX_REFRESH_DELAY_MS = 5_000;
/** Callers wait for at most this many listings in a row. */
const LISTS_AWAITED = 2;
/** How long callers wait for changed lists. */
export const REFRESH_TIMEOUT_MS = 2_000;

/** Lists again after changes, once per burst and one listing at a time. */
export class ListRefresh {
  readonly #clock: Clock;
  readonly #list: (which: readonly RefreshedList[]) => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #stale = new Set<RefreshedList>();
  #isRunning = false;
  /** The listings that callers wait for. */
  #awaited: Promise<void> | undefined;
  /** Whether a caller has waited in vain and no listing was in time since. */
  #isSlow = false;

  /** `list` reads the changed lists; the signal ends the refreshes. */
  constructor(clock: Clock, list: (which: readonly RefreshedList[]) => Promise<void>, signal: AbortSignal) {
    this.#clock = clock;
    this.#list = list;
    this.#signal = signal;
  }

  /** Settles when the changed lists are read, or after 2 s; returns at once for a server that was too slow before. */
  async done(): Promise<void> {
    const awaited = this.#awaited;
    if (!awaited || this.#isSlow) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#clock.after(REFRESH_TIMEOUT_MS, () => {
      this.#isSlow = true;
      resolve();
    });
    await Promise.race([awaited, promise]).finally(stop);
  }

  /** Marks lists as changed; `due` lists, whose TTL expired, are read without waiting for a burst. */
  changed(which: readonly RefreshedList[], why: 'notified' | 'due' = 'notified'): void {
    if (which.length === 0) return;
    for (const list of which) this.#stale.add(list);
    if (!this.#isRunning) void this.#run(why === 'due' ? 0 : BURST_MS);
  }

  async #run(firstMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const since = this.#clock.now();
    const release = () => {
      if (this.#awaited !== promise) return;
      this.#isSlow &&= this.#clock.now() - since >= REFRESH_TIMEOUT_MS;
      this.#awaited = undefined;
      resolve();
    };
    this.#isRunning = true;
    this.#awaited = promise;
    const isOpen = () => this.#stale.size > 0 && !this.#signal.aborted;
    let lists = 0;
    for (
      let waitMs = firstMs;
      isOpen();
      waitMs = Math.min(Math.max(2 * waitMs, BURST_MS), MAX_REFRESH_DELAY_MS)
    ) {
      if (waitMs > 0) await pause(this.#clock, waitMs, this.#signal);
      const which = [...this.#stale];
      this.#stale.clear();
      // If listing fails, the earlier list stays.
      if (!this.#signal.aborted) await this.#list(which).catch(() => {});
      if (++lists === LISTS_AWAITED) release();
    }
    this.#isRunning = false;
    release();
  }
}
