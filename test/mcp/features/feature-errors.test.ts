import { expect, test } from 'vitest';
import { promptError } from '../../../src/mcp/features/feature-results.ts';

const PROMPTS = [
  { name: 'plain', description: '', arguments: [] },
  {
    name: 'move',
    description: '',
    arguments: [
      { name: 'from', required: true },
      { name: 'to', required: true },
      { name: 'toString', required: false },
    ],
  },
];

test.each([
  ['plain', {}, undefined],
  ['plain', { more: 'than asked for' }, undefined],
  ['move', { from: 'a', to: '' }, undefined],
  ['move', { from: 'a' }, 'missing arguments of prompt "move": "to"; required: "from", "to"'],
  ['move', {}, 'missing arguments of prompt "move": "from", "to"; required: "from", "to"'],
  ['mov', {}, 'the server has no prompt "mov"; did you mean "move"? available: "plain", "move"'],
  ['something else', {}, 'the server has no prompt "something else"; available: "plain", "move"'],
])('%s with %j', (name, args, fault) => {
  const message = fault === undefined ? undefined : `MCP server "a": ${fault}`;
  expect(promptError('a', PROMPTS, name, args)?.message).toBe(message);
});

test('of many names a person is shown some', () => {
  const many = Array.from({ length: 30 }, (_, at) => ({ name: `p${at}`, description: '', arguments: [] }));
  expect(promptError('a', many, 'unlike', {})?.message).toMatch(/"p19" and 10 more$/);
  expect(promptError('a', [], 'unlike', {})?.message).toMatch(/the server offers no prompts$/);
});
