import { expect, test } from 'vitest';
import { completionParams, mayComplete } from '../../../src/mcp/features/completion.ts';

test.each([
  [{ completions: {} }, '2025-11-25', true],
  [{}, '2025-11-25', false],
  [{}, '2025-03-26', false],
  [{}, '2024-11-05', true],
  [{}, '', false],
])('one that offers %j and speaks %s may be asked: %s', (capabilities, protocolVersion, may) => {
  expect(mayComplete({ capabilities, protocolVersion })).toBe(may);
});

test.each([
  [{ prompt: 'p' }, {}, { ref: { type: 'ref/prompt', name: 'p' } }],
  [{ resourceTemplate: 'a:{b}' }, {}, { ref: { type: 'ref/resource', uri: 'a:{b}' } }],
  [
    { prompt: 'p' },
    { c: 'd' },
    { ref: { type: 'ref/prompt', name: 'p' }, context: { arguments: { c: 'd' } } },
  ],
])('the request for %j with %j', (of, context, expected) => {
  const argument = { name: 'x', value: 'y' };
  expect(completionParams(of, argument, context)).toEqual({ argument, ...expected });
});
