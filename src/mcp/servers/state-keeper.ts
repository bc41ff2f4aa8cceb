import type { Clock } from './clock.ts';
import type { RetryPolicy } from './retry.ts';
import { beginning, isBusy, next, type ServerEvent, type ServerState } from './state.ts';

type KeeperListener = {
  /** Hears of every change, once it has happened. */
  changed(before: ServerState, state: ServerState): void;
  /** It is time for the next dial. */
  retryDue(): void;
};

type KeeperDeps = { readonly clock: Clock; readonly random: () => number; readonly retry: RetryPolicy };

/** Holds the state of one server, tells of its changes, and wakes at the next retry. */
export class StateKeeper {
  readonly #given: KeeperDeps;
  readonly #listener: KeeperListener;
  #state: ServerState;
  #rest = Promise.withResolvers<void>();
  #stopRetry = noop;
  #isWished = false;
  #isOver = false;

  constructor(given: KeeperDeps, listener: KeeperListener) {
    this.#given = given;
    this.#listener = listener;
    this.#state = beginning(given.clock.now());
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Whether a dial that somebody wished for is under way. */
  get isWished(): boolean {
    return this.#isWished;
  }

  /** Nothing is told of the end, and nothing after it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  enter(event: ServerEvent): void {
    const { clock, random, retry } = this.#given;
    const before = this.#state;
    const state = next(before, event, { now: clock.now(), luck: random(), retry });
    if (this.#isOver || state === before) return;
    this.#state = state;
    this.#stopRetry();
    this.#stopRetry = this.#planRetry(state);
    if (isBusy(state) && !isBusy(before)) this.#rest = Promise.withResolvers();
    this.#isWished =
      isBusy(state) && (this.#isWished || event.kind === 'renewed' || event.kind === 'enabled');
    this.#listener.changed(before, state);
    if (!isBusy(this.#state)) this.#rest.resolve();
  }

  /** Settles when it is not being dialled. */
  async rested(): Promise<void> {
    while (isBusy(this.#state) && !this.#isOver) await this.#rest.promise;
  }

  end(): void {
    this.#isOver = true;
    this.#stopRetry();
    this.#rest.resolve();
  }

  #planRetry(state: ServerState): () => void {
    if (state.kind !== 'failed' || state.nextRetryAt === undefined) return noop;
    const { clock } = this.#given;
    const waitMs = Math.max(0, state.nextRetryAt - clock.now());
    return clock.after(waitMs, () => this.#listener.retryDue(), 'background');
  }
}

function noop(): void {}
