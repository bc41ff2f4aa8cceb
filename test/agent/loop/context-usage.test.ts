import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextUsage } from '../../../src/agent/loop/context-usage.ts';
import { answered, called, conversations, said } from './conversations.ts';

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
  compacts: 'by-itself' as const,
};

test('the window is told row by row, and the rows add up to it', () => {
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

test('results stand under the tool that was called', () => {
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

test('without compaction nothing is kept for it', () => {
  const usage = contextUsage({ ...given, compacts: 'when-asked' });
  expect(usage.categories.some(({ kind }) => kind === 'buffer')).toBe(false);
  expect(usage).not.toHaveProperty('autoCompactThreshold');
});

test('what the model counted is passed on', () => {
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
