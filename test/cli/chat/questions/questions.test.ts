import { expect, test } from 'vitest';
import { parseAnswer, Questions } from '../../../../src/cli/chat/questions/questions.ts';
import type { ReadEnd } from '../../../../src/cli/terminal/line-editor.ts';
import { text } from '../support/text.ts';

function questions() {
  const asked: { prompt: string; answer: (text: string) => void }[] = [];
  const read = (prompt: string) =>
    new Promise<ReadEnd>((resolve) => {
      asked.push({ prompt, answer: (text) => resolve({ kind: 'text', text }) });
    });
  const ran: string[] = [];
  const shown: string[] = [];
  const quiet = { now: Promise.resolve() };
  const all = new Questions({
    editor: {
      read,
      untilNotTyping: async (_, onWait) => {
        onWait();
        await quiet.now;
      },
    },
    print: (pieces) => shown.push(...text(pieces)),
    command: async (typed) => void ran.push(typed),
  });
  return { asked, ran, shown, quiet, questions: all };
}
const never = new AbortController().signal;

test('runs one dialogue at a time, also after a failure', async () => {
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

test('a question withdrawn while waiting is not asked', async () => {
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

test.each([
  ['Ada', { kind: 'answer', text: 'Ada' }],
  ['', { kind: 'answer', text: '' }],
  ['/quit', { kind: 'command', name: 'quit' }],
  ['  /mcp reconnect docs', { kind: 'command', name: 'mcp' }],
  ['/tmp', { kind: 'command', name: 'tmp' }],
  ['//tmp', { kind: 'answer', text: '/tmp' }],
  ['//quit', { kind: 'answer', text: '/quit' }],
  ['/home/ada/notes.txt', { kind: 'answer', text: '/home/ada/notes.txt' }],
  ['/', { kind: 'answer', text: '/' }],
  ['a /quit', { kind: 'answer', text: 'a /quit' }],
  ['1/2', { kind: 'answer', text: '1/2' }],
])('%j typed into a question is %j', (typed, read) => {
  expect(parseAnswer(typed)).toEqual(read);
});

test('runs a chat command and asks again; a command of the question ends it', async () => {
  const { asked, ran, questions: all } = questions();
  const end = all.hold(({ ask }) => ask('name: ', ['mute']), never);
  for (const [index, typed] of ['/quit', '/help me', '/mute'].entries()) {
    await new Promise(setImmediate);
    asked[index]?.answer(typed);
  }
  expect(await end).toEqual({ kind: 'command', name: 'mute' });
  expect(ran).toEqual(['/quit', '/help me']);
});

test('a question waits while a message is typed and shows a note', async () => {
  const { asked, shown, quiet, questions: all } = questions();
  const typing = Promise.withResolvers<void>();
  quiet.now = typing.promise;
  const end = all.hold(({ ask }) => ask('name: '), never);
  await new Promise(setImmediate);
  expect(asked).toEqual([]);
  expect(shown).toEqual(['A question is waiting: first send your line, or clear the line with Ctrl-C.']);
  typing.resolve();
  await new Promise(setImmediate);
  asked[0]?.answer('x');
  expect(await end).toEqual({ kind: 'text', text: 'x' });
});
