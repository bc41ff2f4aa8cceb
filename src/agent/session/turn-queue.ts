import { setMaxListeners } from 'node:events';
import { isRecord } from '../../base/json-value.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** Handles the user's messages one after the other. */
export class TurnQueue {
  readonly #queued: UserMessage[] = [];
  readonly #handle: (message: UserMessage, turn: AbortController) => Promise<void>;
  readonly #state: SessionStateTracker;
  #turn: AbortController | undefined;
  #running: Promise<void> | undefined;
  #isEnded = false;

  /** `handle` must not reject. */
  constructor(
    handle: (message: UserMessage, turn: AbortController) => Promise<void>,
    state: SessionStateTracker,
  ) {
    this.#handle = handle;
    this.#state = state;
  }

  push(message: UserMessage): void {
    if (this.#isEnded) return;
    this.#queued.push(message);
    this.#running ??= this.#run();
  }

  /** Interrupts the running turn; queued turns run after it. Returns the ids of the queued messages. */
  interrupt(): string[] {
    this.#turn?.abort();
    return this.#queued.flatMap(({ uuid }) => uuid ?? []);
  }

  /** Interrupts the running turn and drops the queued ones. */
  end(): void {
    this.#isEnded = true;
    this.#queued.length = 0;
    this.#turn?.abort();
  }

  /** Settles when no turn is running or queued. */
  async done(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let next = this.#queued.shift(); next; next = this.#queued.shift()) {
      const turn = new AbortController();
      // Each concurrent call of a turn adds a listener, without a limit.
      setMaxListeners(0, turn.signal);
      this.#turn = turn;
      if (next.wantsTurn) this.#state.enter('running');
      await this.#handle(next, turn);
      this.#turn = undefined;
      if (this.#queued.length === 0) this.#state.enter('idle');
    }
    this.#running = undefined;
  }
}

export type UserMessage = {
  readonly content: readonly UserBlock[];
  /** The message as the program sent it. */
  readonly message: unknown;
  /** Whether a program made the message, not a person. */
  readonly isSynthetic: boolean;
  readonly uuid: string | undefined;
  /** Whether the message starts a turn; otherwise it is only added to the conversation. */
  readonly wantsTurn: boolean;
};

/** Parses a frame of type `user`; undefined for any other frame. Blocks that a model cannot take are dropped. */
export function parseUserMessage(frame: Frame): UserMessage | undefined {
  if (frame.type !== 'user') return undefined;
  const given: unknown = isRecord(frame.message) ? frame.message.content : undefined;
  const blocks: unknown[] = typeof given === 'string' ? [{ type: 'text', text: given }] : list(given);
  return {
    content: blocks.filter(isUserBlock),
    message: frame.message,
    isSynthetic: frame.isSynthetic === true,
    uuid: typeof frame.uuid === 'string' ? frame.uuid : undefined,
    wantsTurn: frame.shouldQuery !== false,
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Model APIs reject empty texts, and then every later request of the same conversation. */
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
/** The state of a session in `session_state_changed` messages. */
export type SessionState = 'idle' | 'running' | 'requires_action';

/** Reports each change of the session's state once. */
export class SessionStateTracker {
  readonly #onChange: (state: SessionState) => void;
  #state: SessionState = 'idle';
  #waitCount = 0;

  constructor(onChange: (state: SessionState) => void) {
    this.#onChange = onChange;
  }

  get state(): SessionState {
    return this.#state;
  }

  enter(state: SessionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onChange(state);
  }

  /** The state is `requires_action` while any such work lasts. */
  async whileWaiting<T>(work: Promise<T>): Promise<T> {
    this.#waitCount++;
    if (this.#state === 'running') this.enter('requires_action');
    try {
      return await work;
    } finally {
      this.#waitCount--;
      if (this.#waitCount === 0 && this.#state === 'requires_action') this.enter('running');
    }
  }
}
