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

type Held = { -readonly [K in keyof Server]: Server[K] } & {
  /** Ends the present attempt or connection. */
  life: AbortController;
  opening: Promise<void>;
};

/** What replacing the program's servers came to. */
export type Replaced = { added: string[]; removed: string[]; errors: Record<string, string> };

/** The servers of one session: each connects by itself, and one that fails takes no other along. */
export class Servers implements AsyncDisposable {
  readonly #world: ConnectWorld;
  readonly #held = new Map<string, Held>();
  readonly #onChange: () => void;
  #version = 0;
  #isEnded = false;

  /** `onChange` hears of every change of state or tools. */
  constructor(world: ConnectWorld, onChange: () => void = () => {}) {
    this.#world = world;
    this.#onChange = onChange;
  }

  /** Another number after every change: what was made of an equal one is still right. */
  get version(): number {
    return this.#version;
  }

  get all(): ReadonlyMap<string, Server> {
    return this.#held;
  }

  /** Starts connecting, except to those that wait to be asked for; `ready()` tells when all have come or failed. */
  add(entries: Readonly<Record<string, ServerEntry>>, origin: ServerOrigin): void {
    for (const [key, entry] of Object.entries(entries)) {
      void this.#drop(key);
      const waits = 'start' in entry && entry.start === 'on-demand';
      const state: ServerState = { kind: waits ? 'waiting' : 'pending' };
      const held: Held = { entry, origin, state, life: new AbortController(), opening: Promise.resolve() };
      this.#held.set(key, held);
      if (waits) this.#changed();
      else this.#open(key, held);
    }
  }

  /** The program's servers are these from now on; one whose entry is the same stays as it is. */
  async replace(entries: Readonly<Record<string, ServerEntry>>): Promise<Replaced> {
    const mine = [...this.#held].filter(([, { origin }]) => origin !== 'config');
    const removed = mine.filter(([key]) => !Object.hasOwn(entries, key)).map(([key]) => key);
    await Promise.all(removed.map((key) => this.#drop(key)));
    const fresh = Object.entries(entries).filter(
      ([key, entry]) => !isSame(this.#held.get(key)?.entry, entry),
    );
    for (const [key, entry] of fresh) this.add({ [key]: entry }, entry.type === 'sdk' ? 'sdk' : 'dynamic');
    await this.ready();
    const errors: Record<string, string> = {};
    for (const [key] of fresh) {
      const state = this.#held.get(key)?.state;
      if (state?.kind === 'failed') errors[key] = state.fault;
    }
    return { added: fresh.map(([key]) => key), removed, errors };
  }

  /** Dials one that waits, or has failed; what it is then. */
  async connect(key: string): Promise<ServerState | undefined> {
    const held = this.#held.get(key);
    if (!held) return undefined;
    if (held.state.kind === 'waiting' || held.state.kind === 'failed') this.#open(key, held);
    await held.opening;
    return held.state;
  }

  /** False for a server nobody named. */
  async reconnect(key: string): Promise<ServerState | undefined> {
    const held = this.#held.get(key);
    if (!held) return undefined;
    await this.#end(held);
    this.#open(key, held);
    await held.opening;
    return held.state;
  }

  async toggle(key: string, isEnabled: boolean): Promise<boolean> {
    const held = this.#held.get(key);
    if (!held) return false;
    if (isEnabled) {
      if (held.state.kind === 'disabled') this.#open(key, held);
      await held.opening;
    } else if (held.state.kind !== 'disabled') {
      await this.#end(held);
      this.#enter(held, { kind: 'disabled' });
    }
    return true;
  }

  /** Settles when nobody is being dialled any more. */
  async ready(): Promise<void> {
    await Promise.all([...this.#held.values()].map(({ opening }) => opening));
  }

  /** The tools of every connected server, by its key. */
  get tools(): Map<string, readonly ListedTool[]> {
    const connected = [...this.#held].flatMap(([key, { state }]) =>
      state.kind === 'connected' ? [[key, state.tools] as const] : [],
    );
    return new Map(connected);
  }

  connection(key: string): Connection | undefined {
    const state = this.#held.get(key)?.state;
    return state?.kind === 'connected' ? state.connection : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#held.values()].map((held) => this.#end(held)));
  }

  #open(key: string, held: Held): void {
    held.life = new AbortController();
    this.#enter(held, { kind: 'pending' });
    held.opening = this.#dial(key, held, held.life.signal);
  }

  async #dial(key: string, held: Held, signal: AbortSignal): Promise<void> {
    let connection: Connection | undefined;
    try {
      const opened = await connect(key, held.entry, this.#world, signal);
      connection = opened;
      const list = async () => {
        const [{ tools }, prompts] = await Promise.all([
          listTools(opened, { signal }),
          listPrompts(opened, signal),
        ]);
        if (!signal.aborted) this.#enter(held, { kind: 'connected', connection: opened, tools, prompts });
      };
      await list();
      opened.onListChanged(() => void list().catch(() => {}));
      opened.onClose(() => {
        if (!signal.aborted) this.#enter(held, { kind: 'failed', fault: 'the connection closed' });
      });
    } catch (cause) {
      await connection?.close().catch(() => {});
      if (!signal.aborted) this.#enter(held, { kind: 'failed', fault: messageOf(cause) });
    }
  }

  async #drop(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    await this.#end(held);
    this.#changed();
  }

  async #end(held: Held): Promise<void> {
    held.life.abort();
    await held.opening;
    if (held.state.kind === 'connected') await held.state.connection.close().catch(() => {});
  }

  #enter(held: Held, state: ServerState): void {
    held.state = state;
    this.#changed();
  }

  #changed(): void {
    if (this.#isEnded) return;
    this.#version++;
    this.#onChange();
  }
}

function isSame(a: ServerEntry | undefined, b: ServerEntry): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
