import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockTokens, estimateTokens, textTokens } from '../../../src/agent/loop/estimate-tokens.ts';
import type { ModelBlock, UserBlock } from '../../../src/protocol/agent-message.ts';
import { conversations, said } from './conversations.ts';

const blocks: [string, ModelBlock | UserBlock, number][] = [
  ['a text by its bytes', { type: 'text', text: 'x'.repeat(400) }, 100],
  ['Chinese nearly by its signs', { type: 'text', text: '字'.repeat(100) }, 75],
  ['an image at its most', { type: 'image', source: { type: 'base64', data: 'x'.repeat(9e5) } }, 1600],
  ['a document by its pages', { type: 'document', source: { type: 'base64', data: 'x'.repeat(2e5) } }, 6000],
  ['a linked document as one page', { type: 'document', source: { type: 'url', url: 'https://x' } }, 2000],
  ['a plain document as text', { type: 'document', source: { type: 'text', data: 'x'.repeat(40) } }, 10],
  ['a call by its JSON', { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'x'.repeat(19) } }, 15],
  ['a result with its parts', result([{ type: 'text', text: 'abcd' }, image()]), 1605],
  ['a result of text', result('x'.repeat(40)), 14],
  ['a thought without its signature', { type: 'thinking', thinking: 'abcd', signature: 'x'.repeat(999) }, 5],
  ['a kind we do not know by its JSON', { type: 'x', y: 1 } as unknown as ModelBlock, 6],
];

test.each(blocks)('%s', (_, block, tokens) => {
  expect(blockTokens(block)).toBe(tokens);
});

test('the parts of a request add up', () => {
  const tool = { name: 'Read', description: 'Reads', input_schema: { type: 'object' } };
  const messages = [said('hello')];
  const apart =
    estimateTokens({ system: 'Be kind' }) + estimateTokens({ tools: [tool] }) + estimateTokens({ messages });
  expect(estimateTokens({ system: 'Be kind', tools: [tool], messages })).toBe(apart);
  expect(estimateTokens({ tools: [tool] })).toBeGreaterThan(textTokens('ReadReads'));
});

test('one more message never makes a conversation smaller', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      const fewer = messages.slice(0, -1);
      expect(estimateTokens({ messages })).toBeGreaterThan(estimateTokens({ messages: fewer }));
    }),
  );
});

function image(): UserBlock {
  return { type: 'image', source: {} };
}

function result(content: string | UserBlock[]): UserBlock {
  return { type: 'tool_result', tool_use_id: 'a', content };
}
