import { expect, test } from 'vitest';
import { anthropicParams } from '../../../src/agent/models/anthropic-request.ts';
import { modelRequest } from './requests.ts';

test.each([
  { thinking: 'adaptive' as const, maxTokens: 4096, sent: { type: 'adaptive' } },
  { thinking: { budgetTokens: 100 }, maxTokens: 4096, sent: { type: 'enabled', budget_tokens: 1024 } },
  { thinking: { budgetTokens: 9000 }, maxTokens: 4096, sent: { type: 'enabled', budget_tokens: 4095 } },
  { thinking: { budgetTokens: 9000 }, maxTokens: 1000, sent: undefined },
])('thinking $thinking with $maxTokens tokens is sent as $sent', ({ thinking, maxTokens, sent }) => {
  expect(anthropicParams(modelRequest({ thinking, maxTokens })).thinking).toEqual(sent);
});

test('what the API would refuse is left out: foreign thoughts, empty texts, marks of the caller', () => {
  const { messages } = anthropicParams(
    modelRequest({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'own', signature: 's' },
            { type: 'text', text: '' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'b' },
            { type: 'text', text: '' },
          ],
        },
      ],
    }),
  );
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'own', signature: 's' }] },
    { role: 'user', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral' } }] },
  ]);
});
