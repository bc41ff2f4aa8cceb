import { summarizeStderr } from '../../base/process/stderr-summary.ts';
import { LineRing } from '../../base/text/lines.ts';
import { redactText } from '../../base/text/redact.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ConnectContext, ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { RememberedTools } from '../discovery/tool-cache.ts';
import { HostError } from '../errors/host-error.ts';
import { type ConnectRateLimit, type Lane, laneOf } from './connect-queue.ts';
import { ConnectionHealth } from './health-check.ts';
import {
  type Listing,
  ListRefresh,
  listsChangedBy,
  REFRESHED_LISTS,
  type RefreshedList,
  type ServerLists,
} from './list-refresh.ts';
import { OfferedTools } from './offered-tools.ts';
import { type OpenedServer, openServer, signInAfter } from './open-server.ts';
import { withoutManifest } from './server-entry.ts';
import { type Handshake, isBusy, ServerStateMachine, toConnectFailure } from './server-state.ts';
import {
  type KnownServer,
  type Server,
  type ServerStatus,
  type ServerView,
  statusOf,
  unavailableReason,
  viewOf,
} from './server-status.ts';
import type { ServerDeps, ServerListener } from './servers-options.ts';

/** One configured server over its lifetime. Changes run one after the other; a later request supersedes an earlier one. */
export class ManagedServer implements KnownServer {
  readonly entry: ServerEntry;
  readonly origin: Server['origin'];
  readonly lane: Lane;
  readonly #key: string;
  readonly #given: ServerDeps;
  readonly #context: ConnectContext;
  readonly #keeper: ServerStateMachine;
  readonly #offers: OfferedTools;
  readonly #past: RememberedTools;
  readonly #limit: ConnectRateLimit;
  readonly #stderr = new StderrTail();
  #live: LiveConnection | undefined;
  /** Aborts the current attempt or connection. */
  #life = new AbortController();
  #changes: Promise<void> = Promise.resolve();
  /** Increases with each request, so that a superseded attempt does not start. */
  #generation = 0;
  #isFresh = true;

  constructor(
    key: string,
    { entry, origin }: Omit<Server, 'state'>,
    given: ServerDeps,
    listener: ServerListener,
  ) {
    this.entry = entry;
    this.origin = origin;
    this.lane = laneOf(entry);
    this.#key = key;
    this.#given = given;
    this.#offers = new OfferedTools(given, entry, listener);
    this.#past = new RememberedTools(key, entry, given.context);
    this.#limit = given.limitOf(key);
    this.#keeper = new ServerStateMachine(given, {
      changed: (before, state) => {
        this.#offers.follow(state);
        listener.state(before, state);
      },
      retryDue: () => this.retryNow('retry-due'),
    });
    this.#context = this.#stderr.listenIn(given.context);
  }

  get state(): ServerView {
    return viewOf(this.#keeper.state, this.#live?.connection, this.#offers.offer);
  }

  get status(): ServerStatus {
    return statusOf(this.#keeper.state, this.connection?.stderr());
  }

  /** Undefined unless the server is connected. */
  get connection(): Connection | undefined {
    const { state, isOver } = this.#keeper;
    return state.kind === 'connected' && !isOver ? this.#live?.connection : undefined;
  }

  get isConnectRequested(): boolean {
    return this.#keeper.isConnectRequested;
  }

  /** The offered tools, including the grace period after a lost connection. */
  get tools(): readonly ListedTool[] | undefined {
    return this.#offers.offer?.tools;
  }

  get isVerified(): boolean {
    return this.#offers.isVerified;
  }

  /** Why the server cannot be called now; undefined if it can. */
  unavailableReason(): ReturnType<typeof unavailableReason> {
    if (this.#keeper.isOver) return { code: 'closed', detail: 'the server was removed' };
    return unavailableReason(this.#keeper.state, this.#given.clock.now());
  }

  /** Reports the outcome of a call on that connection to its health check. */
  report(connection: Connection, failure?: unknown): void {
    if (connection === this.#live?.connection) this.#live.health.report(failure);
  }

  /** Asks a person to sign in after a refused call. True if the call may be sent again. */
  async signInAfter(failure: unknown, signal: AbortSignal): Promise<boolean> {
    const context = this.#context;
    if (!context.auth?.isInteractive) return false;
    const { entry } = context.expand?.(this.#key, this.entry) ?? { entry: this.entry };
    return signInAfter(failure, this.#key, entry, context, signal);
  }

  /** Connects, unless the server is connecting or connected. A server in backoff keeps its backoff. */
  connectIfNeeded(): Promise<void> {
    const { state } = this.#keeper;
    if (isBusy(state) || state.kind === 'connected') return this.whenIdle();
    const isAllowed = state.kind !== 'failed' || this.#waitMs() <= 0;
    if (isAllowed && !('nextRetryAt' in state)) return this.connect();
    this.retryNow('requested');
    return this.whenIdle();
  }

  /** Connects; an existing connection or attempt is closed first. */
  connect(why: 'reconnect-requested' | 'enabled' = 'reconnect-requested'): Promise<void> {
    this.#supersede();
    this.#keeper.enter({ kind: why });
    this.#connect();
    return this.whenIdle();
  }

  /** Connects a failed server that waits for its next retry; any other server is left as it is. */
  retryNow(why: 'requested' | 'retry-requested' | 'retry-due'): void {
    const { state } = this.#keeper;
    if (isBusy(state)) return;
    // A failed server stays failed until the rate limit allows an attempt, so that calls fail fast instead of waiting.
    const waitMs = this.#waitMs();
    if (state.kind === 'failed' && waitMs > 0) {
      this.#keeper.enter({ kind: 'postponed', until: this.#given.clock.now() + waitMs });
      return;
    }
    this.#keeper.enter({ kind: why });
    if (isBusy(this.#keeper.state)) this.#connect();
  }

  disable(): Promise<void> {
    this.#supersede();
    this.#keeper.enter({ kind: 'disabled' });
    return this.#change(() => this.#close());
  }

  /** Lists tools and prompts again; if the server does not answer, reconnects. */
  async refresh(): Promise<void> {
    const live = this.#live;
    const { signal } = this.#life;
    if (this.#keeper.state.kind !== 'connected' || !live) return this.settled();
    try {
      this.#learn(await live.lists.read(REFRESHED_LISTS, signal), signal);
    } catch {
      if (!signal.aborted) await this.connect();
    }
  }

  /** Closes the connection permanently. */
  end(): Promise<void> {
    this.#supersede();
    this.#keeper.end();
    this.#offers.end();
    return this.#change(() => this.#close());
  }

  /** Settles when the requested connection attempt has succeeded or failed; retries in the background do not count. */
  settled(): Promise<void> {
    return this.#keeper.isConnectRequested ? this.whenIdle() : Promise.resolve();
  }

  /** Settles when no connection attempt is running. */
  whenIdle(): Promise<void> {
    return this.#keeper.whenIdle();
  }

  /** Settles when changed lists are read, or after 2 s; lists whose TTL has expired are read again. */
  async listed(): Promise<void> {
    const live = this.connection && this.#live;
    live?.relist.changed(live.lists.due(), 'due');
    await Promise.all([live?.relist.done(), this.#past.read]);
  }

  /** How long the rate limit delays the next attempt. In-process servers are not limited. */
  #waitMs(): number {
    return this.lane === undefined ? 0 : this.#limit.waitMs();
  }

  #supersede(): void {
    this.#life.abort();
    this.#generation++;
  }

  #change(work: () => Promise<void>): Promise<void> {
    this.#changes = this.#changes.then(work);
    return this.#changes;
  }

  async #close(): Promise<void> {
    const live = this.#live;
    this.#life.abort();
    live?.health.end();
    // After the end, the last connection stays readable for status().
    if (!this.#keeper.isOver) this.#live = undefined;
    await live?.connection.close().catch(() => {});
  }

  /** Connects after earlier changes have finished; cached tools are offered meanwhile. */
  #connect(): void {
    const generation = this.#generation;
    this.#past.recall((tools) => isBusy(this.#keeper.state) && this.#offers.assume(tools));
    void this.#change(async () => {
      await this.#close();
      if (generation !== this.#generation || this.#keeper.isOver) return;
      this.#life = new AbortController();
      const { signal } = this.#life;
      try {
        const begin = this.lane === undefined ? undefined : await this.#limit.admit(signal);
        const opened = await this.#given.queue.run(this.lane, signal, () => {
          begin?.();
          this.#stderr.clear();
          this.#keeper.enter({ kind: 'connect-started' });
          const entry = this.#isFresh ? this.entry : withoutManifest(this.entry);
          this.#isFresh = false;
          const onClose = (connection: Connection) =>
            this.#lose(this.#endedError(connection.stderr()), signal);
          return openServer(this.#key, entry, { ...this.#given, context: this.#context, onClose }, signal);
        });
        this.#use(opened, signal);
      } catch (failure) {
        if (signal.aborted) return;
        const stderr = this.#stderr.lines();
        await this.#close();
        this.#keeper.enter({
          kind: 'connect-failed',
          failure: toConnectFailure(this.#explained(failure, stderr)),
          stderr,
        });
      }
    });
  }

  /** Throws if the connection has closed since it was opened. */
  #use({ connection, lists, listing, since }: OpenedServer, signal: AbortSignal): void {
    const { clock, heartbeat } = this.#given;
    const list = async (which: readonly RefreshedList[]) =>
      this.#learn(await lists.read(which, signal), signal);
    const relist = new ListRefresh(clock, list, signal);
    connection.onListChanged((kind) => relist.changed(listsChangedBy(kind)));
    const checks = this.lane === 'remote' ? heartbeat : undefined;
    const health = new ConnectionHealth(connection, checks, (failure) => this.#lose(failure, signal));
    this.#live = { connection, health, lists, relist };
    const { isClosed, missed } = since();
    if (isClosed) throw this.#endedError(connection.stderr());
    this.#learn(listing, signal);
    relist.changed([...missed].flatMap(listsChangedBy));
  }

  #lose(failure: unknown, signal: AbortSignal): void {
    if (signal.aborted || this.#keeper.state.kind !== 'connected') return;
    this.#life.abort();
    const stderr = this.#live?.connection.stderr() ?? [];
    this.#keeper.enter({
      kind: 'connection-lost',
      failure: toConnectFailure(this.#explained(failure, stderr)),
      stderr,
    });
    void this.#change(() => this.#close());
  }

  /** A request may be the first to notice a closed connection, without knowing why it closed. */
  #explained(failure: unknown, stderr: readonly string[]): unknown {
    if (!(failure instanceof HostError) || failure.code !== 'closed') return failure;
    // A remote server may have given a reason for closing the connection.
    const isExplained = this.lane !== 'local' && failure.cause !== undefined;
    return isExplained ? failure : this.#endedError(stderr);
  }

  /** Why the connection closed; the stderr of a process ends with how the process exited. */
  #endedError(stderr: readonly string[]): HostError {
    const output = stderr.length === 0 ? '' : `; stderr: ${summarizeStderr(stderr)}`;
    const detail =
      this.lane === 'local'
        ? `its process exited${output}; run its command by hand to see why`
        : 'the server closed the connection; check that it is still running';
    return new HostError('closed', this.#key, detail, { isTerminal: true });
  }

  #learn(listing: Listing, signal: AbortSignal): void {
    if (signal.aborted || !this.#live) return;
    this.#offers.take(listing);
    this.#past.remember(listing.tools);
    const tools = this.tools?.length ?? 0;
    const isKnown = this.#keeper.state.kind === 'connected';
    const handshake = handshakeOf(this.#live.connection, tools);
    this.#keeper.enter(isKnown ? { kind: 'listed', tools } : { kind: 'connect-succeeded', handshake });
  }
}

/** A connection that is in use. */
type LiveConnection = {
  readonly connection: Connection;
  readonly health: ConnectionHealth;
  readonly lists: ServerLists;
  readonly relist: ListRefresh;
};

/** What the server reported about itself, for status(). */
function handshakeOf(connection: Connection, tools: number): Handshake {
  const { era, protocolVersion, serverInfo, instructions } = connection;
  return {
    era,
    protocolVersion,
    tools,
    ...(serverInfo && { serverInfo }),
    ...(instructions !== undefined && { instructions }),
  };
}

/** Number and maximum length of the stderr lines that are kept. */
const LINES = 5;
const LINE_LENGTH = 500;

/** The last stderr lines of the current process. */
class StderrTail {
  #ring = new LineRing(LINES, LINE_LENGTH);

  /** A copy of the context that also collects stderr here. */
  listenIn(context: ConnectContext): ConnectContext {
    const onStderr = (server: string, line: string) => {
      this.#ring.push(line);
      context.onStderr?.(server, line);
    };
    return { ...context, onStderr };
  }

  /** For the next process. */
  clear(): void {
    this.#ring = new LineRing(LINES, LINE_LENGTH);
  }

  /** With secrets masked. */
  lines(): readonly string[] {
    return this.#ring.lines.map(redactText);
  }
}
