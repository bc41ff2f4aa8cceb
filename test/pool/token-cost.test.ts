import { expect, test } from 'vitest';
import { toolTokens } from '../../src/agent/loop/context-usage.ts';
import { assemble } from '../../src/pool/assemble.ts';
import { definitionTokens, poolTokenCost, tokenCost } from '../../src/pool/token-cost.ts';
import { catalogue } from './catalogue.ts';
import { listed, pool } from './pool-of.ts';

test.each([
  ['nothing but a frame', '', '', {}, 14],
  ['a name', 'n'.repeat(34), '', {}, 24],
  ['a description', '', 'd'.repeat(47), {}, 24],
  ['a description in signs of three bytes', '', '数'.repeat(47), {}, 44],
  ['a schema', '', '', { a: 'x'.repeat(34) }, 23],
])('the price of %s', (_, name, description, schema, tokens) => {
  expect(definitionTokens(name, description, schema)).toBe(tokens);
});

test('the token cost of a pool is the sum over its origins', () => {
  const it = pool(['Bash', 'Read'], { a: ['x', 'y'], b: ['z'], none: [] });
  const { total, builtIns, servers } = poolTokenCost(it);
  const tokens = (names: string[]) =>
    names.reduce((sum, name) => sum + tokenCost(it.byName.get(name) as never), 0);
  expect(builtIns).toBe(tokens(['Bash', 'Read']));
  expect([...servers]).toEqual([
    ['a', { tools: 2, tokens: tokens(['mcp__a__x', 'mcp__a__y']) }],
    ['b', { tools: 1, tokens: tokens(['mcp__b__z']) }],
    ['none', { tools: 0, tokens: 0 }],
  ]);
  expect(total).toBe(tokens([...it.byName.keys()]));
});

test('a tool costs what its definition costs in a request', () => {
  const tools = [
    listed('a', { description: 'Reads a file', inputSchema: { type: 'object', properties: {} } }),
  ];
  const [it] = assemble({ builtIns: tools, servers: new Map(), maxNameLength: 128 }).tools;
  const sent = { name: 'a', description: 'Reads a file', input_schema: { type: 'object', properties: {} } };
  expect(tokenCost(it as never)).toBe(toolTokens(sent));
});

test('the catalogue costs what a tokeniser counted, within a few percent', () => {
  const it = assemble({ builtIns: [], servers: catalogue(), maxNameLength: 128 });
  // The count is of the definitions as listed; in the form for models, they may be slightly longer or shorter.
  expect(poolTokenCost(it).total / 1_780_168).toBeCloseTo(1, 1);
});
