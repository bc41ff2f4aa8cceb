import { setMaxListeners } from 'node:events';
import { isRecord } from '../../base/json-value.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { newTexts, type TakenNotices } from '../tasks/notices.ts';

/** Handles the user's messages one after the other, and notices when no message waits. */
export class TurnQueue {
  readonly #queued: UserMessage[] = [];
  readonly #handle: (message: UserMessage, turn: AbortController) => Promise<void>;
  readonly #state: SessionStateTracker;
  readonly #takeNotices: () => TakenNotices | undefined;
  #turn: AbortController | undefined;
  #running: Promise<void> | undefined;
  #isEnded = false;
  #resultCount = 0;
  readonly #ending = Promise.withResolvers<void>();

  /** `handle` must not reject. */
  constructor(
    handle: (message: UserMessage, turn: AbortController) => Promise<void>,
    state: SessionStateTracker,
    takeNotices: () => TakenNotices | undefined = () => undefined,
  ) {
    this.#handle = handle;
    this.#state = state;
    this.#takeNotices = takeNotices;
  }

  push(message: UserMessage): void {
    if (this.#isEnded) return;
    this.#queued.push(message);
    this.#start();
  }

  /** Starts a turn for notices, unless a turn is running, which looks for notices at its end. */
  notify(): boolean {
    if (!this.#isEnded) this.#start();
    return this.#running !== undefined;
  }

  #start(): void {
    const first = this.#running === undefined ? this.#next() : undefined;
    if (first) this.#running = this.#run(first);
  }

  /** Interrupts the running turn; queued turns run after it. Returns the ids of the queued messages. */
  interrupt(): string[] {
    this.#turn?.abort();
    return this.#queued.flatMap(({ uuid }) => uuid ?? []);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Settles when `end()` is called. */
  get ended(): Promise<void> {
    return this.#ending.promise;
  }

  /** Interrupts the running turn and drops the queued ones. */
  end(): void {
    this.#isEnded = true;
    this.#ending.resolve();
    this.#queued.length = 0;
    this.#turn?.abort();
  }

  /** The members of a result message that count results and queued turns. */
  count({ type }: Frame): Frame {
    if (type !== 'result') return {};
    return { result_index: this.#resultCount++, queued_turn_count: this.#queued.length };
  }

  /** Settles when no turn is running or queued. */
  async done(): Promise<void> {
    await this.#running;
  }

  async #run(first: UserMessage): Promise<void> {
    for (let next: UserMessage | undefined = first; next; next = this.#next()) {
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

  /** The next queued message of the user or, if there is none, the notices. */
  #next(): UserMessage | undefined {
    const next = this.#queued.shift();
    if (next || this.#isEnded) return next;
    const batch = this.#takeNotices();
    return batch && noticeMessage(batch);
  }
}

/** How many ids of messages are remembered. */
const MAX_RECEIVED = 1_000;

/** The ids of the latest messages that a program has sent. */
export class ReceivedIds {
  readonly #ids = new Set<string>();

  /** Whether a message with this id arrives for the first time; a message without an id always does. */
  isNew(id: string | undefined): boolean {
    if (id === undefined) return true;
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_RECEIVED && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}

/** The message that starts a turn for notices. */
function noticeMessage(notices: TakenNotices): UserMessage {
  const content = newTexts(notices).map((text) => ({ type: 'text' as const, text }));
  const message = { role: 'user', content };
  return { content, message, isSynthetic: true, uuid: undefined, wantsTurn: true, notices };
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
  /** Whether `/` and `@` in the text have no meaning for the agent. */
  readonly isVerbatim?: boolean;
  /** The notices that the message consists of, if the user did not write it. */
  readonly notices?: TakenNotices;
};

/** Parses a frame of type `user`; undefined for any other frame. Blocks that a model cannot take are dropped. */
export function parseUserMessage(frame: Frame): UserMessage | undefined {
  if (frame.type !== 'user') return undefined;
  const given: unknown = isRecord(frame.message) ? frame.message.content : undefined;
  const blocks: unknown[] = typeof given === 'string' ? [{ type: 'text', text: given }] : list(given);
  const content = blocks.filter(isUserBlock);
  const isGiven = typeof given === 'string' || Array.isArray(given);
  const isEmpty = isGiven && content.length === 0 && blocks.every(isText);
  const wantsTurn = frame.shouldQuery !== false;
  return {
    content: isEmpty && wantsTurn ? [NO_CONTENT] : content,
    message: frame.message,
    isSynthetic: frame.isSynthetic === true,
    ...(frame.client_composed === true && { isVerbatim: true }),
    uuid: typeof frame.uuid === 'string' ? frame.uuid : undefined,
    wantsTurn,
  };
}

/** Sent for an empty prompt, as by the `claude` CLI: model APIs reject empty texts, and then every later request too. */
const NO_CONTENT: UserBlock = { type: 'text', text: '(no content)' };

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is { readonly text: string } {
  return isRecord(value) && value.type === 'text' && typeof value.text === 'string';
}

function isUserBlock(value: unknown): value is UserBlock {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case 'text':
      return isText(value) && value.text.trim() !== '';
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

  /** Whether work of `whileWaiting` lasts. */
  get isWaiting(): boolean {
    return this.#waitCount > 0;
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

/** Reports the state of a session to the SDK of the program, or to the program too; by default it is not reported. */
export function reportedState(
  to: 'to-sdk' | 'to-program' | undefined,
  emit: (message: Frame) => void,
): SessionStateTracker {
  return new SessionStateTracker((state) => {
    if (!to) return;
    const hidden = to === 'to-sdk' ? { sdk_host_only: true } : {};
    emit({ type: 'system', subtype: 'session_state_changed', state, ...hidden });
  });
}
