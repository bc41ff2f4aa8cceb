import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayRepeat } from '../../../src/mcp/calls/call-tool.ts';
import { afterFailure, type FailedAttempt } from '../../../src/mcp/calls/retrying-request.ts';

const failed: FailedAttempt = {
  attempt: 1,
  isTerminal: true,
  hasRun: 'no',
  isReconnecting: false,
  remainingMs: 60_000,
  mayRepeat: false,
};
const again = (afterMs: number) => ({ kind: 'again', afterMs });
const giveUp = (mayHaveRun: boolean) => ({ kind: 'give-up', mayHaveRun });

test.each<[string, Partial<FailedAttempt>, object]>([
  ['it never got there', {}, again(100)],
  ['it never got there, the third time', { attempt: 3 }, again(400)],
  ['it never got there, four times', { attempt: 4 }, giveUp(false)],
  ['a new connection is on its way', { isReconnecting: true }, again(0)],
  ['the server asked for a pause', { retryAfterMs: 2_000 }, again(2_000)],
  ['the server asked for a long pause', { retryAfterMs: 60_000 }, giveUp(false)],
  ['no time is left', { remainingMs: 50 }, giveUp(false)],
  ['it may have run, and that may do harm', { hasRun: 'maybe' }, giveUp(true)],
  ['it may have run, which does no harm', { hasRun: 'maybe', mayRepeat: true }, again(100)],
  ['it may have run twice', { hasRun: 'maybe', mayRepeat: true, attempt: 2 }, giveUp(true)],
  ['the connection is not at fault', { isTerminal: false }, giveUp(false)],
  [
    'a time-out is no lost connection',
    { isTerminal: false, hasRun: 'maybe', mayRepeat: true },
    giveUp(false),
  ],
])('after a failure: %s', (_, more, step) => {
  expect(afterFailure({ ...failed, ...more })).toEqual(step);
});

test('a call that may have run and is not idempotent is never repeated', () => {
  const any = fc.record({
    attempt: fc.integer({ min: 1, max: 10 }),
    isTerminal: fc.boolean(),
    retryAfterMs: fc.option(fc.nat(), { nil: undefined }),
    isReconnecting: fc.boolean(),
    remainingMs: fc.integer(),
  });
  fc.assert(
    fc.property(any, (more) => {
      expect(afterFailure({ ...more, hasRun: 'maybe', mayRepeat: false }).kind).toBe('give-up');
    }),
  );
});

test.each([
  [{ readOnlyHint: true }, 'trusted', true],
  [{ idempotentHint: true }, 'trusted', true],
  [{ readOnlyHint: true }, 'untrusted', false],
  [{ idempotentHint: true }, 'untrusted', false],
  [{ destructiveHint: false }, 'trusted', false],
  [undefined, 'trusted', false],
] as const)('a tool marked %o of a server that is %s may be repeated: %s', (marks, trust, expected) => {
  expect(mayRepeat(marks, trust === 'trusted')).toBe(expected);
});
