import { isRecord } from '../../base/json-value.ts';
import type { Frame } from '../../protocol/control-frame.ts';

/** The facts that decide whether the conversation is over. */
export type TurnState = {
  /** No more input will come. */
  readonly inputEnded: boolean;
  /** User messages sent, and results seen. */
  readonly sent: number;
  readonly results: number;
  /** A result came after the last message was sent. */
  readonly answered: boolean;
  /** Messages that start no turn and whose empty result has not come. */
  readonly notes: number;
  /** The state that the agent reported last; `undefined` if it never did, `stale` if the report is older than the last message or result. */
  readonly state: 'running' | 'idle' | 'stale' | undefined;
  /** The agent answered a request sent after the last message, so it has read all messages. */
  readonly confirmed: boolean;
  /** How many background tasks run. */
  readonly background: number;
  /** A background task has ended, and the turn that the agent starts for its notification has not ended yet. */
  readonly awaitsNotice: boolean;
};

export const INITIAL_TURN_STATE: TurnState = {
  inputEnded: false,
  sent: 0,
  results: 0,
  answered: false,
  notes: 0,
  state: undefined,
  confirmed: false,
  background: 0,
  awaitsNotice: false,
};

export type TurnEvent =
  | { kind: 'sent'; isNote?: boolean }
  | { kind: 'input-ended' }
  | { kind: 'confirmed' }
  | { kind: 'received'; message: Frame };

export function nextTurnState(now: TurnState, event: TurnEvent): TurnState {
  switch (event.kind) {
    case 'sent':
      if (event.isNote) return { ...now, notes: now.notes + 1 };
      return {
        ...now,
        sent: now.sent + 1,
        answered: false,
        state: now.state && 'stale',
        confirmed: false,
      };
    case 'input-ended':
      return { ...now, inputEnded: true };
    case 'confirmed':
      return { ...now, confirmed: true };
    case 'received': {
      const { type, subtype, state, tasks, status } = event.message;
      if (now.notes > 0 && isNoteResult(event.message)) return { ...now, notes: now.notes - 1 };
      if (isUnsolicited(event.message)) return { ...now, awaitsNotice: false };
      if (type === 'result') return { ...now, results: now.results + 1, answered: true, awaitsNotice: false };
      if (type !== 'system') return now;
      switch (subtype) {
        case 'session_state_changed':
          return { ...now, state: state === 'idle' ? 'idle' : 'running' };
        case 'background_tasks_changed':
          return { ...now, background: Array.isArray(tasks) ? tasks.length : 0 };
        case 'task_notification':
          // A task that was stopped starts no turn.
          if (status === 'stopped') return now;
          return { ...now, awaitsNotice: now.background > 0 && now.state !== 'running' };
        default:
          return now;
      }
    }
  }
}

/** Whether this is the result of a turn that the agent started by itself, such as for a message of a channel. */
export function isUnsolicited({ type, origin }: Frame): boolean {
  return type === 'result' && isRecord(origin) && UNSOLICITED.has(origin.kind);
}

/** Results for messages of the program may have an origin of another kind. */
const UNSOLICITED: ReadonlySet<unknown> = new Set(['channel', 'peer', 'task-notification']);

/** Whether this is the result of a message with `shouldQuery: false`. Not every agent sends one. */
export function isNoteResult({ type, subtype, num_turns, result }: Frame): boolean {
  return type === 'result' && subtype === 'success' && num_turns === 0 && result === '';
}

/**
 * Whether our end of the link may close: the agent still calls tools, hooks and callbacks through it until it is done.
 * An agent that reports its state is done when idle after a result; one that does not, when every message has its result.
 * Idle with fewer results than messages is `doubtful`: the agent took several in one turn, or has not read the last one yet.
 */
export function endingOf(now: TurnState): 'open' | 'doubtful' | 'over' {
  if (!now.inputEnded) return 'open';
  if (now.sent === 0) return 'over';
  // The agent may ask for permissions in the turn that follows background work.
  if (now.background > 0 || now.awaitsNotice) return 'open';
  const hasAll = now.results >= now.sent;
  if (now.state === undefined) return hasAll ? 'over' : 'open';
  if (!now.answered || now.state !== 'idle') return 'open';
  return hasAll || now.confirmed ? 'over' : 'doubtful';
}
