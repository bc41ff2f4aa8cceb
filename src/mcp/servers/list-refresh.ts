import { type Clock, pause } from '../../base/clock.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Connection, ListKind } from '../connection/connection.ts';
import { listPrompts, listTools } from '../discovery/lists.ts';

import type { Prompt } from '../discovery/prompt.ts';
import type { Discovered, DiscoveryDiagnostic } from '../discovery/read-list.ts';

/** The lists that are kept for every server; resources are listed by those who want them. */
export type RefreshedList = 'tools' | 'prompts';

/** What a server lists now, and what of it is not as it should be. */
export type Listing = {
  readonly tools: Discovered<ListedTool>;
  readonly prompts: Discovered<Prompt>;
};

export const REFRESHED_LISTS: readonly RefreshedList[] = ['tools', 'prompts'];

/** No list is asked for again sooner, however short it is said to hold. */
const MIN_TTL_MS = 1_000;
/** One whose changes are told is asked for only to be safe. */
const MIN_TTL_WITH_NOTIFICATIONS_MS = 300_000;
/** After a list that could not be had. */
const RETRY_MS = 10_000;

/** Which of the lists a change concerns. */
export function listsChangedBy(kind: ListKind): readonly RefreshedList[] {
  if (kind === 'all') return REFRESHED_LISTS;
  return kind === 'resources' ? [] : [kind];
}

/** The lists of one connection, each read by itself and only when it must be. */
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

  /** Those whose time is over, by what the server said of it. */
  due(): RefreshedList[] {
    const now = this.#clock.now();
    return REFRESHED_LISTS.filter((list) => (this.#dueAt.get(list) ?? Number.POSITIVE_INFINITY) <= now);
  }

  /** Reads these, and gives all. Rejects if the tools cannot be listed; prompts are not worth that. */
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
      const detail = `its list of prompts could not be had: ${messageOf(cause)}`;
      const { name: server } = this.#connection;
      const diagnostic: DiscoveryDiagnostic = { server, list: 'prompts', fault: detail, outcome: 'list' };
      return { items, diagnostics: [...diagnostics.filter(({ fault: it }) => it !== detail), diagnostic] };
    }
  }

  /** An answer to an older question never replaces one to a newer. */
  async #read<K extends RefreshedList>(list: K, ask: () => Promise<Listing[K]>): Promise<void> {
    const turn = ++this.#requested[list];
    if (this.#dueAt.has(list)) this.#dueAt.set(list, this.#clock.now() + RETRY_MS);
    const found = await ask();
    if (turn < this.#taken[list]) return;
    this.#taken[list] = turn;
    this.#plan(list, found.ttlMs);
    const { items } = this.#listing[list];
    // What was whole before is better than a part of what is now.
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

/** Servers that change much say so often: one list answers for a burst. */
const BURST_MS = 50;
/** One that says so at every list is listed more and more seldom. */
const MAX_REFRESH_DELAY_MS = 5_000;
/** A change that is told during a list is worth another; whoever goes on like that is not waited for. */
const LISTS_AWAITED = 2;
/** How long lists that have changed are waited for. */
export const REFRESH_TIMEOUT_MS = 2_000;

/** Lists again after changes, once for a burst and one list at a time: an older answer never replaces a newer one. */
export class ListRefresh {
  readonly #clock: Clock;
  readonly #list: (which: readonly RefreshedList[]) => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #stale = new Set<RefreshedList>();
  #isRunning = false;
  /** The lists that are worth a wait. */
  #awaited: Promise<void> | undefined;
  /** Whether somebody waited in vain, and no list came in time since. */
  #isSlow = false;

  /** `list` is what is done about a change, until the signal ends it. */
  constructor(clock: Clock, list: (which: readonly RefreshedList[]) => Promise<void>, signal: AbortSignal) {
    this.#clock = clock;
    this.#list = list;
    this.#signal = signal;
  }

  /** Settles when what has changed is listed, or soon: whoever changes without end or was too slow keeps nobody. */
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

  /** These have changed, or are `due`: who does not come in bursts is not waited for. */
  changed(which: readonly RefreshedList[], why: 'told' | 'due' = 'told'): void {
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
      // Whoever cannot list now keeps what was listed before.
      if (!this.#signal.aborted) await this.#list(which).catch(() => {});
      if (++lists === LISTS_AWAITED) release();
    }
    this.#isRunning = false;
    release();
  }
}
