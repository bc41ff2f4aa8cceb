import { expect, test } from 'vitest';
import { parseAgents } from '../../../../src/agent/builtins/agents/agent-definition.ts';

test('only the prompt is required', () => {
  expect(parseAgents({ a: { prompt: 'p' }, b: { description: 'd', prompt: 'p', model: 'inherit' } })).toEqual(
    {
      a: { description: 'a', prompt: 'p' },
      b: { description: 'd', prompt: 'p' },
    },
  );
});

test('parses a complete definition', () => {
  const server = { command: 'x' };
  const given = {
    description: 'd',
    prompt: 'p',
    tools: ['Read', 7],
    disallowedTools: ['Bash'],
    model: 'small',
    maxTurns: 3,
    mcpServers: [
      'shared',
      { own: server, odd: { command: 7 } },
      { calc: { type: 'sdk', name: 'calc' } },
      null,
      7,
    ],
  };
  expect(parseAgents({ a: given })).toEqual({
    a: { ...given, tools: ['Read'], mcpServers: ['shared', { own: server }, 'calc'] },
  });
});

test.each([
  ['nothing', undefined],
  ['a list', [{ prompt: 'p' }]],
  ['no object', { a: 7 }],
  ['no prompt', { a: { description: 'd' } }],
  ['a name a record cannot hold', JSON.parse('{"__proto__": {"prompt": "p"}}')],
])('rejects %s', (_, value) => {
  const agents = parseAgents(value);
  expect(Object.keys(agents).filter((name) => name !== '0')).toEqual([]);
  expect(Object.getPrototypeOf(agents)).toBe(Object.prototype);
});
