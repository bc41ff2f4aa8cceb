import { describe, expect, test } from 'vitest';
import {
  limiterOf,
  type QuestionContext,
  QuestionLimiter,
} from '../../../src/mcp/connection/question-limiter.ts';
import type { ServerAnswer } from '../../../src/mcp/connection/server-answers.ts';

const never = new AbortController().signal;

function limited(method: string, context: QuestionContext) {
  const clock = { now: 0 };
  const reported: string[] = [];
  const limiter = new QuestionLimiter(
    (message) => reported.push(message),
    () => clock.now,
  );
  const open: PromiseWithResolvers<Record<string, unknown>>[] = [];
  const answer: ServerAnswer = () => {
    const asked = Promise.withResolvers<Record<string, unknown>>();
    open.push(asked);
    return asked.promise;
  };
  const ask = limiter.limited(method, answer, () => context);
  return { clock, reported, open, ask: () => ask({}, never) };
}

describe('elicitations without a call', () => {
  test('of 2,000 at once one is asked, the others are canceled, and few lines say so', async () => {
    const { ask, open, reported } = limited('elicitation/create', 'unsolicited');
    const asked = Array.from({ length: 2000 }, ask);
    expect(open).toHaveLength(1);
    expect(await Promise.all(asked.slice(1))).toEqual(Array(1999).fill({ action: 'cancel' }));
    expect(reported).toHaveLength(4);
    expect(reported[0]).toBe(
      'asked for input too often: refused (limit without a call: 1 at once, 5 a minute)',
    );
    open[0]?.resolve({ action: 'accept' });
    expect(await asked[0]).toEqual({ action: 'accept' });
  });

  test('one after the other: five in a minute, then again after it', async () => {
    const { ask, open, clock } = limited('elicitation/create', 'unsolicited');
    for (let n = 0; n < 20; n++) {
      const asked = ask();
      open.at(-1)?.resolve({ action: 'accept' });
      await asked;
    }
    expect(open).toHaveLength(5);
    clock.now = 60_000;
    void ask();
    expect(open).toHaveLength(6);
  });
});

test.each(['decline', 'cancel'])('after a %s no other comes without a call for a minute', async (action) => {
  const { ask, open, clock } = limited('elicitation/create', 'unsolicited');
  const first = ask();
  open[0]?.resolve({ action });
  await first;
  clock.now = 59_999;
  expect(await ask()).toEqual({ action: 'cancel' });
  clock.now = 60_000;
  void ask();
  expect(open).toHaveLength(2);
});

test('a refusal during a call does not keep the next question away', async () => {
  const { ask, open } = limited('elicitation/create', 'call');
  const first = ask();
  open[0]?.resolve({ action: 'decline' });
  await first;
  void ask();
  expect(open).toHaveLength(2);
});

test('during a call a server may ask several things at once, and many in a row', async () => {
  const { ask, open } = limited('elicitation/create', 'call');
  const asked = Array.from({ length: 2000 }, ask);
  expect(open).toHaveLength(16);
  for (const it of open.splice(0)) it.resolve({ action: 'accept' });
  await Promise.all(asked);
  for (let n = 0; n < 20; n++) {
    const next = ask();
    open.at(-1)?.resolve({ action: 'accept' });
    expect(await next).toEqual({ action: 'accept' });
  }
});

test('a sampling request above the limit fails with the reason', async () => {
  const { ask, open } = limited('sampling/createMessage', 'unsolicited');
  const asked = Array.from({ length: 50 }, ask);
  expect(open).toHaveLength(2);
  await expect(asked[2]).rejects.toThrow('asked for the model too often');
  const rest = await Promise.allSettled(asked.slice(3));
  expect(rest.every(({ status }) => status === 'rejected')).toBe(true);
});

test('an answer that fails is not open any more', async () => {
  const { ask, open } = limited('elicitation/create', 'unsolicited');
  const first = ask();
  open[0]?.reject(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  void ask();
  expect(open).toHaveLength(2);
});

test('roots are not limited here', () => {
  const { ask, open } = limited('roots/list', 'unsolicited');
  Array.from({ length: 100 }, ask);
  expect(open).toHaveLength(100);
});

test('a server keeps its limits when it is started again; others have their own', () => {
  const world = { questionLimiters: new Map() };
  // Each dial has a world of its own.
  expect(limiterOf({ ...world }, 'a')).toBe(limiterOf({ ...world }, 'a'));
  expect(limiterOf(world, 'a')).not.toBe(limiterOf(world, 'b'));
  expect(limiterOf({}, 'a')).not.toBe(limiterOf(world, 'a'));
});
