import type { ListedTool } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { Connection } from './connect/connection.ts';
import type { ConnectWorld, ServerEntry } from './connect/world.ts';
import { readEntry } from './read-entry.ts';
import { type Server, type ServerOrigin, ServerSlot, type ServerState } from './server-slot.ts';

/** What replacing the program's servers came to. */
export type Replaced = { added: string[]; removed: string[]; errors: Record<string, string> };

/** The servers of one session: each connects by itself, and one that fails takes no other along. */
export class Servers implements AsyncDisposable {
  readonly #world: ConnectWorld;
  readonly #slots = new Map<string, ServerSlot>();
  /** Those that are gone, until nothing is left of them. */
  readonly #leaving = new Set<Promise<void>>();
  #replacing: Promise<unknown> = Promise.resolve();
  #version = 0;
  #dialledAt = performance.now();
  #isEnded = false;

  readonly #onState: (key: string, kind: ServerState['kind']) => void;

  /** `onState` hears of every change of a server, also if only its tools changed. */
  constructor(world: ConnectWorld, onState: (key: string, kind: ServerState['kind']) => void = () => {}) {
    this.#world = world;
    this.#onState = onState;
  }

  /** When somebody was last dialled, by the clock of `performance`. */
  get dialledAt(): number {
    return this.#dialledAt;
  }

  /** Another number after every change: what was made of an equal one is still right. */
  get version(): number {
    return this.#version;
  }

  get all(): ReadonlyMap<string, Server> {
    return this.#slots;
  }

  /**
   * Starts connecting, except to those that wait to be asked for; `ready()` tells when all have come or failed. One whose
   * entry is the same stays as it is.
   */
  add(entries: Readonly<Record<string, ServerEntry>>, origin: ServerOrigin): void {
    if (this.#isEnded) return;
    for (const [key, entry] of Object.entries(entries)) {
      const held = this.#slots.get(key);
      if (held && isSame(held.entry, entry)) continue;
      this.#drop(key);
      const slot: ServerSlot = new ServerSlot(key, { entry, origin }, this.#world, () => {
        this.#version++;
        if (slot.state.kind === 'pending') this.#dialledAt = performance.now();
        this.#onState(key, slot.state.kind);
      });
      this.#slots.set(key, slot);
      this.#version++;
      if (!('start' in entry && entry.start === 'on-demand')) void slot.open();
    }
  }

  /** The program's servers are these from now on. What is no entry is told of and changes nothing. */
  replace(values: Readonly<Record<string, unknown>>): Promise<Replaced> {
    const replaced = this.#replacing.then(() => this.#replace(values));
    this.#replacing = replaced;
    return replaced;
  }

  async #replace(values: Readonly<Record<string, unknown>>): Promise<Replaced> {
    const errors = new Map<string, string>();
    const added: string[] = [];
    const removed = [...this.#slots].flatMap(([key, { origin }]) =>
      origin === 'config' || Object.hasOwn(values, key) ? [] : [key],
    );
    for (const key of removed) this.#drop(key);
    const kept: ServerSlot[] = [];
    for (const [key, value] of Object.entries(values)) {
      try {
        const entry = readEntry(key, value);
        const held = this.#slots.get(key);
        if (held && isSame(held.entry, entry)) kept.push(held);
        else added.push(key);
        this.add({ [key]: entry }, entry.type === 'sdk' ? 'sdk' : 'dynamic');
      } catch (cause) {
        errors.set(key, messageOf(cause));
      }
    }
    // The same name in the program may stand for another server now.
    await Promise.all(kept.map((slot) => (slot.entry.type === 'sdk' ? slot.refresh() : undefined)));
    await Promise.all([...added.map((key) => this.#slots.get(key)?.settled()), ...this.#leaving]);
    for (const key of added) {
      const state = this.#slots.get(key)?.state;
      if (state?.kind === 'failed') errors.set(key, state.fault);
    }
    return { added, removed, errors: Object.fromEntries(errors) };
  }

  /** Dials one that waits, or has failed; what it is then. Undefined for one nobody named. */
  async connect(key: string): Promise<ServerState | undefined> {
    const slot = this.#slots.get(key);
    if (slot?.state.kind !== 'disabled') await slot?.open();
    return slot?.state;
  }

  /** Ends the connection and makes another; what it is then. Undefined for one nobody named. */
  async reconnect(key: string): Promise<ServerState | undefined> {
    const slot = this.#slots.get(key);
    await slot?.reopen();
    return slot?.state;
  }

  /** False for a server nobody named. */
  async toggle(key: string, to: 'enabled' | 'disabled'): Promise<boolean> {
    const slot = this.#slots.get(key);
    if (to === 'disabled') await slot?.disable();
    else if (slot?.state.kind === 'disabled') await slot.open();
    return slot !== undefined;
  }

  /** Settles when nobody is being dialled any more. */
  async ready(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.settled()));
  }

  /** Settles when no server is being asked for a list that has changed. */
  async listed(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.listed()));
  }

  /** The tools of every connected server, by its key. */
  get tools(): Map<string, readonly ListedTool[]> {
    const connected = [...this.#slots].flatMap(([key, { state }]) =>
      state.kind === 'connected' ? [[key, state.tools] as const] : [],
    );
    return new Map(connected);
  }

  connection(key: string): Connection | undefined {
    const state = this.#slots.get(key)?.state;
    return state?.kind === 'connected' ? state.connection : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#slots.values()].map((slot) => slot.end()));
    await Promise.all(this.#leaving);
  }

  #drop(key: string): void {
    const slot = this.#slots.get(key);
    if (!slot) return;
    this.#slots.delete(key);
    this.#version++;
    const gone = slot.end().then(() => void this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }
}

/** Whether two entries lead to the same server; what was known of it beforehand makes no difference. */
function isSame(a: ServerEntry, b: ServerEntry): boolean {
  return textOf(a) === textOf(b);
}

function textOf(entry: ServerEntry): string {
  return JSON.stringify({ ...entry, manifest: undefined });
}
