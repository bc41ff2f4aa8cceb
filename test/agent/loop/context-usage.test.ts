import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blockTokens,
  compactThreshold,
  contextUsage,
  estimateTextTokens,
  estimateTokens,
  shouldCompact,
  usedTokens,
} from '../../../src/agent/loop/context-usage.ts';
import type { ModelBlock, UserBlock } from '../../../src/protocol/agent-message.ts';
import { answered, called, conversations, said } from './conversations.ts';

describe('context usage', () => {
  const limits = { toolName: 64, contextTokens: 1000, outputTokens: 200 };
  const tool = (name: string, server?: string) => ({
    name,
    description: 'x'.repeat(40),
    input_schema: {},
    ...(server !== undefined && { server }),
  });
  const given = {
    model: 'm',
    system: 'x'.repeat(400),
    tools: [tool('Read'), tool('mcp__s__t', 's')],
    messages: [said('x'.repeat(80)), called('a'), answered({ a: 'x'.repeat(40) })],
    limits,
  };

  test('the rows add up to the context window', () => {
    const usage = contextUsage(given);
    expect(usage.categories.map(({ id, kind, tokens }) => [id, kind, tokens])).toEqual([
      ['system_prompt', 'used', 100],
      ['system_tools', 'used', 24],
      ['mcp_tools', 'used', 25],
      ['messages', 'used', 20 + 4 + 5 + 4 + 4 + 14 + 4],
      ['autocompact_buffer', 'buffer', 280],
      ['free_space', 'free', 516],
    ]);
    expect(usage).toMatchObject({
      totalTokens: 204,
      rawMaxTokens: 1000,
      percentage: 20,
      autoCompactThreshold: 720,
      isAutoCompactEnabled: true,
      mcpTools: [{ name: 'mcp__s__t', serverName: 's', tokens: 25, isLoaded: true }],
      systemTools: [{ name: 'Read', tokens: 24 }],
      apiUsage: null,
    });
  });

  test('results are attributed to the called tool', () => {
    expect(contextUsage(given).messageBreakdown).toEqual({
      toolCallTokens: 9,
      toolResultTokens: 14,
      attachmentTokens: 0,
      assistantMessageTokens: 0,
      userMessageTokens: 20,
      redirectedContextTokens: 0,
      unattributedTokens: 12,
      toolCallsByType: [{ name: 'Read', callTokens: 9, resultTokens: 14 }],
      attachmentsByType: [],
    });
  });

  test('passes on the usage reported by the model', () => {
    const lastUsage = { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: null, service_tier: 'x' };
    expect(contextUsage({ ...given, lastUsage }).apiUsage).toEqual({
      input_tokens: 5,
      output_tokens: 6,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });

  test('the rows add up to the window, or to what is used if that is more', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 1, max: 20_000 }), (messages, contextTokens) => {
        const usage = contextUsage({ ...given, messages, limits: { ...limits, contextTokens } });
        const sum = usage.categories.reduce((total, { tokens }) => total + tokens, 0);
        expect(sum).toBe(Math.max(contextTokens, usage.totalTokens));
        expect(usage.categories.every(({ tokens }) => tokens >= 0)).toBe(true);
      }),
    );
  });
});

describe('compact threshold', () => {
  const limits = (contextTokens: number, outputTokens: number) => ({
    toolName: 64,
    contextTokens,
    outputTokens,
  });

  test.each([
    ['a large window without the reply', limits(200_000, 32_000), 151_200],
    ['a model whose reply may fill the window', limits(8_000, 8_000), 3_600],
  ])('the threshold of %s', (_, given, threshold) => {
    expect(compactThreshold(given)).toBe(threshold);
    expect(shouldCompact(threshold - 1, given)).toBe(false);
    expect(shouldCompact(threshold, given)).toBe(true);
  });

  test('used tokens are the reported usage, cached tokens included, plus an estimate of later messages', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 20,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 4000,
    };
    const added = [said('hello')];
    expect(usedTokens(usage, added)).toBe(4321 + estimateTokens({ messages: added }));
    expect(usedTokens({ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null }, [])).toBe(3);
  });
});

describe('estimate tokens', () => {
  const blocks: [string, ModelBlock | UserBlock, number][] = [
    ['a text by its bytes', { type: 'text', text: 'x'.repeat(400) }, 100],
    ['Chinese nearly by its signs', { type: 'text', text: '字'.repeat(100) }, 75],
    ['an image at its most', { type: 'image', source: { type: 'base64', data: 'x'.repeat(9e5) } }, 1600],
    [
      'a document by its pages',
      { type: 'document', source: { type: 'base64', data: 'x'.repeat(2e5) } },
      6000,
    ],
    ['a linked document as one page', { type: 'document', source: { type: 'url', url: 'https://x' } }, 2000],
    ['a plain document as text', { type: 'document', source: { type: 'text', data: 'x'.repeat(40) } }, 10],
    ['a call by its JSON', { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'x'.repeat(19) } }, 15],
    ['a result with its parts', result([{ type: 'text', text: 'abcd' }, image()]), 1605],
    ['a result of text', result('x'.repeat(40)), 14],
    [
      'a thought without its signature',
      { type: 'thinking', thinking: 'abcd', signature: 'x'.repeat(999) },
      5,
    ],
    ['a kind we do not know by its JSON', { type: 'x', y: 1 } as unknown as ModelBlock, 6],
  ];

  test.each(blocks)('%s', (_, block, tokens) => {
    expect(blockTokens(block)).toBe(tokens);
  });

  test('the parts of a request add up', () => {
    const tool = { name: 'Read', description: 'Reads', input_schema: { type: 'object' } };
    const messages = [said('hello')];
    const apart =
      estimateTokens({ system: 'Be kind' }) +
      estimateTokens({ tools: [tool] }) +
      estimateTokens({ messages });
    expect(estimateTokens({ system: 'Be kind', tools: [tool], messages })).toBe(apart);
    expect(estimateTokens({ tools: [tool] })).toBeGreaterThan(estimateTextTokens('ReadReads'));
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
});
