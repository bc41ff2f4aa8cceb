import { expect, test } from 'vitest';
import {
  answers,
  check,
  eventually,
  Failed,
  outcome,
  reasonOf,
  rejects,
  textOf,
} from '../../../chaos/judge.ts';

const never = () => new Promise<never>(() => {});
const refused = (message: string) => Promise.reject(new Error(message));

test('an outcome is an answer, a reason or silence, and never a rejection', async () => {
  expect(await outcome(1_000, Promise.resolve(7))).toMatchObject({ kind: 'answered', value: 7 });
  expect(await outcome(1_000, refused('it is gone'))).toMatchObject({
    kind: 'rejected',
    reason: 'it is gone',
  });
  expect(await outcome(20, never())).toEqual({ kind: 'silent', ms: 20 });
});

test('what should answer fails by silence and by rejection', async () => {
  expect(await answers(1_000, 'a call', Promise.resolve(7))).toBe(7);
  await expect(answers(20, 'a call', never())).rejects.toThrow(new Failed('a call: nothing within 20 ms'));
  await expect(answers(1_000, 'a call', refused('gone'))).rejects.toThrow(new Failed('a call: gone'));
});

test('what should reject fails by an answer, by silence and by a reason that does not fit', async () => {
  expect(await rejects(1_000, 'a call', refused('it timed out'), /time/)).toBe('it timed out');
  await expect(rejects(1_000, 'a call', Promise.resolve(7))).rejects.toThrow(Failed);
  await expect(rejects(20, 'a call', never())).rejects.toThrow('still waiting after 20 ms');
  await expect(rejects(1_000, 'a call', refused('no'))).rejects.toThrow('the reason is not clear: no');
});

test('what should work in the end is tried again, and fails with the last reason', async () => {
  let tries = 0;
  const third = async () => {
    tries++;
    check(tries === 3, 'not yet');
    return tries;
  };
  expect(await eventually(2_000, 'calling', third)).toBe(3);
  await expect(eventually(150, 'calling', () => refused('never'))).rejects.toThrow(
    new Failed('calling: not within 150 ms: never'),
  );
});

test('a result that says it failed is no answer', () => {
  expect(
    textOf({ content: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }] }),
  ).toBe('ab');
  expect(() => textOf({ content: [{ type: 'text', text: 'no such tool' }], isError: true })).toThrow(Failed);
});

test('a reason is the message with those of its causes, each once', () => {
  const root = new Error('ECONNREFUSED');
  expect(reasonOf(new Error('fetch failed', { cause: root }))).toBe('fetch failed: ECONNREFUSED');
  expect(reasonOf(new Error('cannot connect: ECONNREFUSED', { cause: root }))).toBe(
    'cannot connect: ECONNREFUSED',
  );
  expect(reasonOf('text')).toBe('text');
});
