import type { ListedTool } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { connect } from './connect/connect.ts';
import type { Connection } from './connect/connection.ts';
import type { ConnectWorld, ServerEntry } from './connect/world.ts';
import { listPrompts, type Prompt } from './discover/list-prompts.ts';
import { listTools } from './discover/list-tools.ts';

/** Who named a server: the start of the session, the program at its beginning or later. */
export type ServerOrigin = 'config' | 'sdk' | 'dynamic';

/** One server as a session knows it; one that waits is dialled when the agent asks for it. */
export type ServerState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'connected';
      readonly connection: Connection;
      readonly tools: readonly ListedTool[];
      readonly prompts: readonly Prompt[];
    }
  | { readonly kind: 'failed'; readonly fault: string }
  | { readonly kind: 'disabled' };

/** A server with everything known about it. */
export type Server = {
  readonly entry: ServerEntry;
  readonly origin: ServerOrigin;
  readonly state: ServerState;
};

/** The life of one server in a session. Whatever is asked of it is done one after the other; nothing here rejects. */
export class ServerSlot implements Server {
  readonly entry: ServerEntry;
  readonly origin: ServerOrigin;
  readonly #key: string;
  readonly #world: ConnectWorld;
  readonly #onChange: () => void;
  #state: ServerState;
  /** Ends the present attempt or connection. */
  #life = new AbortController();
  #connection: Connection | undefined;
  #changes: Promise<void> = Promise.resolve();
  /** Grows with everything that is asked for: a dial that is no longer wanted is not made. */
  #wish = 0;
  #listing: Promise<void> = Promise.resolve();
  #isFresh = true;
  #isOver = false;

  constructor(
    key: string,
    { entry, origin }: Pick<Server, 'entry' | 'origin'>,
    world: ConnectWorld,
    onChange: () => void,
  ) {
    this.entry = entry;
    this.origin = origin;
    this.#key = key;
    this.#world = world;
    this.#onChange = onChange;
    this.#state = { kind: 'waiting' };
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Dials, unless that is being done or has succeeded. */
  open(): Promise<void> {
    if (this.#state.kind === 'pending' || this.#state.kind === 'connected') return this.settled();
    return this.reopen();
  }

  /** Ends what there is and dials anew. */
  reopen(): Promise<void> {
    const wish = this.#wishAnew();
    this.#enter({ kind: 'pending' });
    return this.#change(async () => {
      await this.#close();
      if (wish === this.#wish) await this.#dial();
    });
  }

  disable(): Promise<void> {
    this.#wishAnew();
    this.#enter({ kind: 'disabled' });
    return this.#change(() => this.#close());
  }

  /** Asks again what it offers; one that does not answer is dialled anew. */
  async refresh(): Promise<void> {
    const connection = this.#connection;
    const { signal } = this.#life;
    if (this.#state.kind !== 'connected' || !connection) return this.settled();
    try {
      await this.#list(connection, signal);
    } catch {
      if (!signal.aborted) await this.reopen();
    }
  }

  /** Ends it for good. */
  end(): Promise<void> {
    this.#isOver = true;
    this.#wishAnew();
    return this.#change(() => this.#close());
  }

  /** Settles when nothing is being done with it any more. */
  async settled(): Promise<void> {
    let seen: Promise<void>;
    do {
      seen = this.#changes;
      await seen;
    } while (seen !== this.#changes);
  }

  /** Settles when nothing is being listed anew. */
  listed(): Promise<void> {
    return this.#listing;
  }

  #wishAnew(): number {
    this.#life.abort();
    return ++this.#wish;
  }

  #change(work: () => Promise<void>): Promise<void> {
    this.#changes = this.#changes.then(work);
    return this.settled();
  }

  async #close(): Promise<void> {
    const connection = this.#connection;
    this.#life.abort();
    this.#connection = undefined;
    await connection?.close().catch(() => {});
  }

  async #dial(): Promise<void> {
    this.#life = new AbortController();
    const { signal } = this.#life;
    try {
      const connection = await connect(this.#key, this.#entryNow(), this.#world, signal);
      this.#connection = connection;
      connection.onClose(() => this.#lose(signal));
      connection.onListChanged(this.#listener(connection, signal));
      await this.#list(connection, signal);
    } catch (cause) {
      if (!signal.aborted) this.#enter({ kind: 'failed', fault: messageOf(cause) });
      await this.#close();
    }
  }

  /** What the program said of a server beforehand holds for the first time it is dialled. */
  #entryNow(): ServerEntry {
    const isFirst = this.#isFresh;
    this.#isFresh = false;
    if (isFirst || this.entry.type !== 'sdk') return this.entry;
    const { manifest: _, ...rest } = this.entry;
    return rest;
  }

  #lose(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#life.abort();
    this.#enter({ kind: 'failed', fault: 'the connection closed' });
    void this.#change(() => this.#close());
  }

  /** Lists again after a change, one list at a time: an older answer never replaces a newer one. */
  #listener(connection: Connection, signal: AbortSignal): () => void {
    let isListing = false;
    let isStale = false;
    const listAll = async () => {
      isListing = true;
      while (isStale && !signal.aborted) {
        isStale = false;
        // Whoever cannot list now keeps what was listed before.
        await this.#list(connection, signal).catch(() => {});
      }
      isListing = false;
    };
    return () => {
      isStale = true;
      if (!isListing) this.#listing = listAll();
    };
  }

  async #list(connection: Connection, signal: AbortSignal): Promise<void> {
    const [{ tools }, prompts] = await Promise.all([
      listTools(connection, { signal }),
      listPrompts(connection, signal),
    ]);
    if (!signal.aborted) this.#enter({ kind: 'connected', connection, tools, prompts });
  }

  #enter(state: ServerState): void {
    if (this.#isOver) return;
    this.#state = state;
    this.#onChange();
  }
}
