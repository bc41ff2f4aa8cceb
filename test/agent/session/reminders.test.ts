import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { type PromptMoment, Reminders, reminderText } from '../../../src/agent/session/reminders.ts';

const never = new AbortController().signal;
const said = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

function remindersSeeing(moments: PromptMoment[]): Reminders {
  const reminders = new Reminders(() => {});
  reminders.add({
    beforePrompt: (moment) => {
      moments.push(moment);
      return [];
    },
  });
  return reminders;
}

test('the first prompt of a conversation, and the first one after a compaction, are known as first', async () => {
  const seen: PromptMoment[] = [];
  const reminders = remindersSeeing(seen);
  const messages: ModelMessage[] = [];
  for (const change of [() => {}, () => {}, () => messages.splice(0, messages.length, said('summary'))]) {
    change();
    await reminders.beforePrompt(messages, never);
    messages.push(said('prompt'));
    reminders.added(messages);
  }
  expect(seen.map(({ isFirst }) => isFirst)).toEqual([true, false, true]);
});

test('a resumed conversation contains its first reminders', async () => {
  const seen: PromptMoment[] = [];
  await remindersSeeing(seen).beforePrompt([said('earlier')], never);
  expect(seen).toEqual([{ isFirst: false }]);
});

test('a source that fails adds nothing and is reported; the texts of others are kept in order', async () => {
  const notes: string[] = [];
  const reminders = new Reminders((text) => notes.push(text));
  reminders.add({ beforePrompt: () => ['a'] });
  reminders.add({ beforePrompt: () => Promise.reject(new Error('EACCES: notes.md')) });
  reminders.add({ beforePrompt: async () => ['b'] });
  expect(await reminders.beforePrompt([], never)).toEqual([reminderText('a'), reminderText('b')]);
  expect(notes).toEqual(['A reminder could not be sent to the model: EACCES: notes.md']);
});

test.each(['</system-reminder>', '</SYSTEM-REMINDER >', '<system-reminder>'])(
  'a text cannot end or open the element: %s',
  (tag) => {
    const inner = reminderText(`before ${tag} after`).split('\n').slice(1, -1).join();
    expect(inner).toContain('before &lt;');
    expect(inner).not.toMatch(/<\/?system-reminder/i);
  },
);
