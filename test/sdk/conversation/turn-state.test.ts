import { expect, test } from 'vitest';
import {
  endingOf,
  INITIAL_TURN_STATE,
  nextTurnState,
  type TurnEvent,
  type TurnState,
} from '../../../src/sdk/conversation/turn-state.ts';

const sent: TurnEvent = { kind: 'sent' };
const inputEnded: TurnEvent = { kind: 'input-ended' };
const confirmed: TurnEvent = { kind: 'confirmed' };
const received = (message: Record<string, unknown>): TurnEvent => ({ kind: 'received', message });
const result = received({ type: 'result', subtype: 'success' });
const says = (state: string) => received({ type: 'system', subtype: 'session_state_changed', state });
const [running, idle, asking] = [says('running'), says('idle'), says('requires_action')];
const note: TurnEvent = { kind: 'sent', isNote: true };
const empty = received({ type: 'result', subtype: 'success', num_turns: 0, result: '' });
const other = received({ type: 'assistant' });

const after = (events: readonly TurnEvent[]): TurnState => events.reduce(nextTurnState, INITIAL_TURN_STATE);

test.each<[string, TurnEvent[], 'open' | 'doubtful' | 'over']>([
  ['nothing was sent yet', [], 'open'],
  ['there is no input at all', [inputEnded], 'over'],
  ['input may still come', [sent, result], 'open'],
  ['a message without its result', [sent, inputEnded], 'open'],
  ['a message and its result', [sent, inputEnded, result], 'over'],
  ['a result before the input ended', [sent, result, inputEnded], 'over'],
  ['other messages are no result', [sent, inputEnded, other], 'open'],
  ['two messages, one result, no state', [sent, sent, inputEnded, result], 'open'],
  ['two messages, two results, no state', [sent, sent, inputEnded, result, result], 'over'],
  ['running still, though the result is there', [sent, inputEnded, running, result], 'open'],
  ['idle after the result', [sent, inputEnded, running, result, idle], 'over'],
  ['idle before the result', [sent, inputEnded, running, idle, result], 'over'],
  ['idle without a result', [sent, inputEnded, running, idle], 'open'],
  ['it waits for a person', [sent, inputEnded, running, result, asking], 'open'],
  [
    'a result of background work after idle',
    [sent, inputEnded, running, result, idle, running, result, idle],
    'over',
  ],
  ['running again after idle', [sent, running, result, idle, running, inputEnded], 'open'],
  ['an idle older than the last message', [sent, running, result, idle, sent, inputEnded], 'open'],
  [
    'an idle older than the last message, then its result',
    [sent, running, result, idle, sent, inputEnded, result],
    'open',
  ],
  ['a late idle of the turn before', [sent, running, result, sent, inputEnded, idle], 'open'],
  ['the second turn is done', [sent, running, result, idle, sent, inputEnded, running, result, idle], 'over'],
  ['two messages in two turns', [sent, sent, inputEnded, running, result, result, idle], 'over'],
  [
    'two messages, idle after one result: taken together, or the second one unread',
    [sent, sent, inputEnded, running, result, idle],
    'doubtful',
  ],
  ['they were taken together', [sent, sent, inputEnded, running, result, idle, confirmed], 'over'],
  [
    'the second one was unread, and runs now',
    [sent, sent, inputEnded, running, result, idle, running, confirmed],
    'open',
  ],
  [
    'the second one was unread, and is done',
    [sent, sent, inputEnded, running, result, idle, running, confirmed, result, idle],
    'over',
  ],
  [
    'three messages in two turns, known to be read',
    [sent, sent, sent, inputEnded, running, result, idle, confirmed, running, result, idle],
    'over',
  ],
  ['a message that starts no turn', [note, inputEnded], 'over'],
  ['its empty result is not the result of another message', [note, sent, inputEnded, empty], 'open'],
  ['a message that starts no turn, and one that does', [note, sent, inputEnded, empty, result], 'over'],
  ['an empty result without such a message is a result', [sent, inputEnded, empty], 'over'],
  [
    'a message after the confirmation',
    [sent, sent, inputEnded, running, result, idle, confirmed, sent, running, result, idle],
    'doubtful',
  ],
])('%s', (_, events, expected) => {
  expect(endingOf(after(events))).toBe(expected);
});

test('the state is immutable, and an unchanged state is the same object', () => {
  const before = after([sent, running, result, idle]);
  expect(before).toEqual({
    inputEnded: false,
    sent: 1,
    results: 1,
    answered: true,
    notes: 0,
    state: 'idle',
    confirmed: false,
    background: 0,
    awaitsNotice: false,
  });
  expect(nextTurnState(before, other)).toBe(before);
});

test('background work keeps the input open until its turn has ended', () => {
  const tasks = (count: number): TurnEvent => ({
    kind: 'received',
    message: { type: 'system', subtype: 'background_tasks_changed', tasks: Array.from({ length: count }) },
  });
  const notified: TurnEvent = { kind: 'received', message: { type: 'system', subtype: 'task_notification' } };
  const own: TurnEvent = {
    kind: 'received',
    message: { type: 'result', origin: { kind: 'task-notification' } },
  };
  const begun: TurnEvent[] = [sent, running, tasks(1), result, idle, { kind: 'input-ended' }];
  expect(endingOf(after(begun))).toBe('open');
  expect(endingOf(after([...begun, notified, tasks(0)]))).toBe('open');
  expect(endingOf(after([...begun, notified, tasks(0), running, own]))).toBe('open');
  expect(endingOf(after([...begun, notified, tasks(0), running, own, idle]))).toBe('over');
  const stopped: TurnEvent = {
    kind: 'received',
    message: { type: 'system', subtype: 'task_notification', status: 'stopped' },
  };
  expect(endingOf(after([...begun, stopped, tasks(0)]))).toBe('over');
});
