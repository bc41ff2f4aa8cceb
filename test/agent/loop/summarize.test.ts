import { expect, test } from 'vitest';
import { renderMessages } from '../../../src/agent/loop/summarize.ts';
import { answered, called, replied, said } from './conversations.ts';

test('renders a conversation without thinking blocks and with image placeholders', () => {
  const messages = [
    { role: 'user' as const, content: [...said('look').content, { type: 'image' as const, source: {} }] },
    {
      role: 'assistant' as const,
      content: [{ type: 'thinking' as const, thinking: 'hm', signature: 's' }, ...called('a').content],
    },
    answered({ a: 'found' }),
    replied('done'),
  ] as Parameters<typeof renderMessages>[0];
  expect(renderMessages(messages, 1000)).toBe(
    'User:\nlook\n[image]\n\nAssistant:\n[calls Read {"path":"a"}]\n\nUser:\n[result: found]\n\nAssistant:\ndone',
  );
});

test('keeps the start and the newest messages of a long conversation', () => {
  const messages = Array.from({ length: 50 }, (_, n) => said(`message ${n} ${'x'.repeat(80)}`));
  const text = renderMessages(messages, 110);
  expect(text).toMatch(/^User:\nmessage 0 x+\n\n\[46 messages left out\]\n\nUser:\nmessage 47 /);
  expect(text).toMatch(/message 49 x+$/);
});

test('shortens a first message that is too long', () => {
  const text = renderMessages([said('x'.repeat(5000)), replied('end')], 100);
  expect(text.length).toBeLessThan(400);
  expect(text).toMatch(/end$/);
});
