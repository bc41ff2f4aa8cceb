import type { ListedTool } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { connect } from './connect/connect.ts';
import type { Connection } from './connect/connection.ts';
import type { ConnectWorld, ServerEntry } from './connect/world.ts';
import { listTools } from './discover/list-tools.ts';

/** One server as a session knows it. */
export type ServerState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'connected'; readonly connection: Connection; readonly tools: readonly ListedTool[] }
  | { readonly kind: 'failed'; readonly fault: string };

/** The servers of one session: each connects by itself, and one that fails takes no other along. */
export class Servers implements AsyncDisposable {
  readonly #world: ConnectWorld;
  readonly #states = new Map<string, ServerState>();
  readonly #ended = new AbortController();
  #connecting: Promise<unknown> = Promise.resolve();

  constructor(world: ConnectWorld) {
    this.#world = world;
  }

  /** Starts connecting; `ready()` tells when all have come or failed. */
  add(entries: Readonly<Record<string, ServerEntry>>): void {
    const dials = Object.entries(entries).map(([key, entry]) => this.#open(key, entry));
    this.#connecting = Promise.all([this.#connecting, ...dials]);
  }

  async ready(): Promise<void> {
    await this.#connecting;
  }

  get states(): ReadonlyMap<string, ServerState> {
    return this.#states;
  }

  /** The tools of every connected server, by its key. */
  get tools(): Map<string, readonly ListedTool[]> {
    const connected = [...this.#states].flatMap(([key, state]) =>
      state.kind === 'connected' ? [[key, state.tools] as const] : [],
    );
    return new Map(connected);
  }

  connection(key: string): Connection | undefined {
    const state = this.#states.get(key);
    return state?.kind === 'connected' ? state.connection : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#connecting;
    const open = [...this.#states.values()].filter((state) => state.kind === 'connected');
    await Promise.all(open.map(({ connection }) => connection.close().catch(() => {})));
  }

  async #open(key: string, entry: ServerEntry): Promise<void> {
    this.#states.set(key, { kind: 'pending' });
    try {
      const connection = await connect(key, entry, this.#world, this.#ended.signal);
      await this.#list(key, connection);
      connection.onListChanged(() => void this.#list(key, connection).catch(() => {}));
      connection.onClose(() => {
        if (!this.#ended.signal.aborted)
          this.#states.set(key, { kind: 'failed', fault: 'the connection closed' });
      });
    } catch (cause) {
      this.#states.set(key, { kind: 'failed', fault: messageOf(cause) });
    }
  }

  async #list(key: string, connection: Connection): Promise<void> {
    const { tools } = await listTools(connection, { signal: this.#ended.signal });
    this.#states.set(key, { kind: 'connected', connection, tools });
  }
}

/** The states as `mcp_status` and `system/init` tell them. */
export function serverStatus(
  states: ReadonlyMap<string, ServerState>,
): { name: string; status: string; error?: string; tools?: { name: string }[] }[] {
  return [...states].map(([name, state]) => ({
    name,
    status: state.kind,
    ...(state.kind === 'failed' && { error: state.fault }),
    ...(state.kind === 'connected' && { tools: state.tools.map((tool) => ({ name: tool.name })) }),
  }));
}
