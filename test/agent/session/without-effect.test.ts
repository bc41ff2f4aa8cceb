import { expect, test } from 'vitest';
import { withoutEffect } from '../../../src/agent/session/without-effect.ts';

test.each<[string, Record<string, unknown>, string[]]>([
  ['nothing', {}, []],
  ['what asks for nothing', { skills: [], promptSuggestions: false, title: undefined }, []],
  [
    'options',
    { title: 'T', skills: ['a'], hooks: {} },
    ['options.skills has no effect with this agent', 'options.title has no effect with this agent'],
  ],
  [
    'members of agents',
    { agents: { a: { prompt: 'p', permissionMode: 'plan' }, b: 'none' } },
    ['options.agents["a"].permissionMode has no effect with this agent'],
  ],
])('%s', (_, body, notes) => {
  expect(withoutEffect(body)).toEqual(notes);
});
