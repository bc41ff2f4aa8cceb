import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { connect } from '../../../../src/mcp/connection/connect.ts';
import type { ConnectContext, ServerEntry } from '../../../../src/mcp/connection/connect-context.ts';
import type { Connection, ListKind } from '../../../../src/mcp/connection/connection.ts';
import { Listeners } from '../../../../src/mcp/connection/notifications.ts';
import {
  HostError,
  type HostErrorCode,
  type HostErrorOptions,
} from '../../../../src/mcp/errors/host-error.ts';
import { Servers } from '../../../../src/mcp/servers/servers.ts';
import type { ServersOptions } from '../../../../src/mcp/servers/servers-options.ts';
import { AbortError } from '../../../../src/protocol/sdk-error.ts';
import { testWorld } from '../../support/servers.ts';
import { FakeClock } from './fake-clock.ts';

export const http: ServerEntry = { type: 'http', url: 'http://127.0.0.1:1/mcp' };
export const stdio: ServerEntry = { command: 'x' };

/** A fake connection, whose answers the test sets. */
export class FakeConnection implements Connection {
  readonly serverInfo = { name: 'fake', version: '1' };
  readonly instructions = undefined;
  readonly capabilities: ServerCapabilities;
  readonly era = 'legacy';
  readonly protocolVersion = '2025-11-25';
  readonly name: string;
  readonly trouble = new Listeners();
  readonly changed = new Listeners<[kind: ListKind]>();
  readonly ended = new Listeners();
  readonly onTransportError = this.trouble.on;
  readonly onListChanged = this.changed.on;
  readonly onClose = this.ended.on;
  tools: unknown[] = [{ name: 'echo', inputSchema: { type: 'object' } }];
  /** Further members of a page of a list. */
  extra: object = {};
  prompts: unknown[] = [];
  promptLists = 0;
  pings = 0;
  lists = 0;
  isClosed = false;
  answer: (signal: AbortSignal) => Promise<void> = async () => {};

  readonly #lists: Fleet['lists'];

  constructor(name: string, { lists, capabilities, tools }: Pick<Fleet, 'lists' | 'capabilities' | 'tools'>) {
    this.name = name;
    this.capabilities = capabilities;
    this.#lists = lists;
    if (tools) this.tools = tools;
  }

  notify(): void {}

  async setLogLevel(): Promise<void> {}

  stderr(): readonly string[] {
    return ['last words'];
  }

  /** Whether a call is pending. */
  atWork = false;

  /** When the last message arrived. */
  spokeAt = 0;

  lastMessageAt(): number {
    return this.spokeAt;
  }

  hasPendingCall(): boolean {
    return this.atWork;
  }

  async ping(signal: AbortSignal): Promise<void> {
    this.pings++;
    await this.answer(signal);
  }

  async listTools(_cursor?: string, signal?: AbortSignal): Promise<unknown> {
    if (this.isClosed) throw terminal('closed');
    this.lists++;
    await this.#lists?.(signal);
    return { tools: this.tools, ...this.extra };
  }

  async callTool(): Promise<object> {
    return {};
  }

  async request(method: string): Promise<unknown> {
    if (method !== 'prompts/list') return {};
    this.promptLists++;
    return { prompts: this.prompts, ...this.extra };
  }

  /** Closes the connection, as the server would. */
  die(): void {
    this.isClosed = true;
    this.ended.emit();
  }

  async close(): Promise<void> {
    if (!this.isClosed) this.die();
  }
}

type Reply = (name: string) => Promise<void>;

/** Fake servers by name, with the outcome of connecting to them. */
export class Fleet {
  readonly clock = new FakeClock();
  /** Every connection attempt: the server, and the time since the start. */
  readonly dials: { name: string; at: number }[] = [];
  readonly connections: FakeConnection[] = [];
  readonly told: string[] = [];
  /** The capabilities of the servers. */
  capabilities: ServerCapabilities = { tools: {} };
  /** The tools of new connections; by default one tool. */
  tools: unknown[] | undefined;
  /** Awaited before tools are listed. */
  lists: ((signal?: AbortSignal) => Promise<void>) | undefined;
  readonly servers: Servers;
  readonly #replies = new Map<string, Reply>();
  readonly #since = this.clock.now();

  constructor(options: ServersOptions = {}, world: Partial<ConnectContext> = {}) {
    this.servers = new Servers(testWorld(world), {
      clock: this.clock,
      random: () => 0.5,
      connect: this.#connect,
      ...options,
      onState: (key, state, status) => {
        this.told.push(`${key} ${state.kind}`);
        options.onState?.(key, state, status);
      },
    });
  }

  /** Sets the outcome of connecting from now on. */
  set(name: string, reply: Reply): void {
    this.#replies.set(name, reply);
  }

  of(name: string): FakeConnection[] {
    return this.connections.filter((it) => it.name === name);
  }

  /** The current connection of the server. */
  now(name: string): FakeConnection {
    return this.of(name).at(-1) as FakeConnection;
  }

  timesOf(name: string): number[] {
    return this.dials.filter((it) => it.name === name).map(({ at }) => at);
  }

  state(name: string) {
    return this.servers.all.get(name)?.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.servers[Symbol.asyncDispose]();
  }

  readonly #connect: typeof connect = async (name, _entry, _world, signal) => {
    this.dials.push({ name, at: this.clock.now() - this.#since });
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    signal.addEventListener('abort', () => over.reject(new AbortError('aborted')));
    await Promise.race([this.#replies.get(name)?.(name), over.promise]);
    if (signal.aborted) throw new AbortError('aborted');
    const connection = new FakeConnection(name, this);
    this.connections.push(connection);
    return connection;
  };
}

export const hang: Reply = () => new Promise(() => {});

export const come: Reply = async () => {};

export function refuse(code: HostErrorCode, options: HostErrorOptions = {}): Reply {
  return (name) => Promise.reject(new HostError(code, name, 'no', options));
}

export function terminal(code: HostErrorCode = 'unreachable'): HostError {
  return new HostError(code, 'a', 'gone', { isTerminal: true });
}
