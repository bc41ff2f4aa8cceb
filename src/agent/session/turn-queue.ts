import { setMaxListeners } from 'node:events';
import type { StateTeller } from './state-teller.ts';
import type { UserLine } from './user-line.ts';

/** The user's messages, taken one after the other; all of them, unless somebody ends it. */
export class TurnQueue {
  readonly #waiting: UserLine[] = [];
  readonly #take: (line: UserLine, turn: AbortController) => Promise<void>;
  readonly #state: StateTeller;
  #turn: AbortController | undefined;
  #working: Promise<void> | undefined;
  #isEnded = false;

  /** `take` must not reject. */
  constructor(take: (line: UserLine, turn: AbortController) => Promise<void>, state: StateTeller) {
    this.#take = take;
    this.#state = state;
  }

  push(line: UserLine): void {
    if (this.#isEnded) return;
    this.#waiting.push(line);
    this.#working ??= this.#work();
  }

  /** Ends the running turn; those that wait run after it. Gives the ids of those that have one. */
  interrupt(): string[] {
    this.#turn?.abort();
    return this.#waiting.flatMap(({ uuid }) => uuid ?? []);
  }

  /** Ends the running turn; none begins after it. */
  end(): void {
    this.#isEnded = true;
    this.#waiting.length = 0;
    this.#turn?.abort();
  }

  /** Settles when nothing runs or waits. */
  async done(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const turn = new AbortController();
      // Every call of a turn listens, and there is no limit to how many run side by side.
      setMaxListeners(0, turn.signal);
      this.#turn = turn;
      if (next.wantsTurn) this.#state.enter('running');
      await this.#take(next, turn);
      this.#turn = undefined;
      if (this.#waiting.length === 0) this.#state.enter('idle');
    }
    this.#working = undefined;
  }
}
