import { expect, test } from 'vitest';
import { shortenResults, shortenText } from '../../../src/agent/loop/compact-shorten.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { answered, called, said } from './conversations.ts';

test.each([
  ['a short text stays', 'abcdef', 'abcdef'],
  ['one that would save next to nothing stays', 'x'.repeat(25), 'x'.repeat(25)],
  [
    'the middle of a long one goes',
    `${'a'.repeat(10)}${'b'.repeat(90)}${'c'.repeat(10)}`,
    `${'a'.repeat(10)}\n[… 90 characters left out to save room …]\n${'c'.repeat(10)}`,
  ],
])('%s', (_, text, shorter) => {
  expect(shortenText(text, 10)).toBe(shorter);
});

test('a sign that is cut in two leaves no half behind', () => {
  expect(shortenText(`x${'😀'.repeat(60)}`, 10).isWellFormed()).toBe(true);
});

test('what fits stays as it is', () => {
  const messages = [called('a'), answered({ a: 'x'.repeat(9000) })];
  expect(shortenResults(messages, 5000)).toEqual(messages);
});

test('what a person said is never shortened, and a failed result stays a failed one', () => {
  const long = 'x'.repeat(9000);
  const image = { type: 'image' as const, source: {} };
  const failed: ModelMessage = {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'a',
        is_error: true,
        content: [{ type: 'text', text: long }, image],
      },
      { type: 'tool_result', tool_use_id: 'b' },
      ...(said(long).content as { type: 'text'; text: string }[]),
    ],
  };
  expect(shortenResults([failed], 0)).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          is_error: true,
          content: [
            { type: 'text', text: shortenText(long, 800) },
            { type: 'text', text: '[image left out to save room]' },
          ],
        },
        { type: 'tool_result', tool_use_id: 'b' },
        ...said(long).content,
      ],
    },
  ]);
});
