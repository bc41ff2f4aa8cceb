import { expect, test } from 'vitest';
import type { ReadEnd } from '../../../src/cli/chat/line-editor.ts';
import { Questions } from '../../../src/cli/chat/questions.ts';

function questions() {
  const asked: { prompt: string; answer: (text: string) => void }[] = [];
  const read = (prompt: string) =>
    new Promise<ReadEnd>((resolve) => {
      asked.push({ prompt, answer: (text) => resolve({ kind: 'text', text }) });
    });
  return { asked, questions: new Questions({ read }, () => {}) };
}
const never = new AbortController().signal;

test('one dialogue is held to its end before the next begins, also if it fails', async () => {
  const { asked, questions: all } = questions();
  const first = all.hold(async ({ ask }) => {
    await ask('1a');
    await ask('1b');
    throw new Error('failed');
  }, never);
  const second = all.hold(async ({ ask }) => (await ask('2')).kind, never);
  await new Promise(setImmediate);
  expect(asked.map(({ prompt }) => prompt)).toEqual(['1a']);
  asked[0]?.answer('x');
  await new Promise(setImmediate);
  expect(asked.map(({ prompt }) => prompt)).toEqual(['1a', '1b']);
  asked[1]?.answer('x');
  await expect(first).rejects.toThrow('failed');
  await new Promise(setImmediate);
  expect(asked.map(({ prompt }) => prompt)).toEqual(['1a', '1b', '2']);
  asked[2]?.answer('x');
  expect(await second).toBe('text');
});

test('a question withdrawn while it waits is never asked', async () => {
  const { asked, questions: all } = questions();
  const first = all.hold(({ ask }) => ask('1'), never);
  const withdrawn = new AbortController();
  const second = all.hold(({ ask }) => ask('2'), withdrawn.signal);
  withdrawn.abort();
  await new Promise(setImmediate);
  asked[0]?.answer('x');
  await first;
  expect(await second).toBeUndefined();
  expect(asked).toHaveLength(1);
});
