import { setMaxListeners } from 'node:events';
import { isRecord } from '../../base/json-value.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** The user's messages, taken one after the other; all of them, unless somebody ends it. */
export class TurnQueue {
  readonly #waiting: UserMessage[] = [];
  readonly #take: (line: UserMessage, turn: AbortController) => Promise<void>;
  readonly #state: SessionStateTracker;
  #turn: AbortController | undefined;
  #working: Promise<void> | undefined;
  #isEnded = false;

  /** `take` must not reject. */
  constructor(take: (line: UserMessage, turn: AbortController) => Promise<void>, state: SessionStateTracker) {
    this.#take = take;
    this.#state = state;
  }

  push(line: UserMessage): void {
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

/** A message of the user, as it waits for its turn. */
export type UserMessage = {
  readonly content: readonly UserBlock[];
  readonly uuid: string | undefined;
  /** Whether it wants an answer; one that does not is only remembered. */
  readonly wantsTurn: boolean;
};

/** Reads a frame that carries a user's message; undefined for any other. Blocks a model could not read are left out. */
export function parseUserMessage(frame: Frame): UserMessage | undefined {
  if (frame.type !== 'user') return undefined;
  const given: unknown = isRecord(frame.message) ? frame.message.content : undefined;
  const blocks: unknown[] = typeof given === 'string' ? [{ type: 'text', text: given }] : list(given);
  return {
    content: blocks.filter(isUserBlock),
    uuid: typeof frame.uuid === 'string' ? frame.uuid : undefined,
    wantsTurn: frame.shouldQuery !== false,
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Models refuse texts without anything in them, and all that comes after in the same conversation. */
function isUserBlock(value: unknown): value is UserBlock {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case 'text':
      return typeof value.text === 'string' && value.text.trim() !== '';
    case 'image':
    case 'document':
      return isRecord(value.source);
    case 'tool_result':
      return typeof value.tool_use_id === 'string';
    default:
      return false;
  }
}
/** What a session is doing, as programs are told. */
export type SessionState = 'idle' | 'running' | 'requires_action';

/** Tells every change of state once: running, waiting for somebody, idle. */
export class SessionStateTracker {
  readonly #tell: (state: SessionState) => void;
  #state: SessionState = 'idle';
  #waits = 0;

  constructor(tell: (state: SessionState) => void) {
    this.#tell = tell;
  }

  get state(): SessionState {
    return this.#state;
  }

  enter(state: SessionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell(state);
  }

  /** While any such work lasts, the session waits for somebody. */
  async whileWaiting<T>(work: Promise<T>): Promise<T> {
    this.#waits++;
    if (this.#state === 'running') this.enter('requires_action');
    try {
      return await work;
    } finally {
      this.#waits--;
      if (this.#waits === 0 && this.#state === 'requires_action') this.enter('running');
    }
  }
}
