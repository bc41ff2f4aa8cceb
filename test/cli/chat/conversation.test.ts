import { expect, test } from 'vitest';
import { missingModel } from '../../../src/cli/chat/conversation.ts';

const KEY = { ANTHROPIC_API_KEY: 'k' };

test.each([
  ['a key', {}, KEY],
  ['a key for the model named', { model: 'opus' }, KEY],
  ['the rehearsal', { model: 'rehearsal' }, {}],
  ['the rehearsal by the environment', {}, { TOOLPLANE_MODEL: 'rehearsal' }],
  ['an agent of its own settings', { pathToClaudeCodeExecutable: 'claude' }, {}],
  ['settings, which may have a key', { settings: 'settings.json' }, {}],
])('with %s a model is found', (_, options, env) => {
  expect(missingModel(options, env)).toBeUndefined();
});

test.each([
  ['no key', {}, {}, 'ANTHROPIC_API_KEY'],
  ['a key of another provider', { model: 'openai:gpt' }, KEY, 'OPENAI_API_KEY'],
])('with %s the message names the settings that were checked', (_, options, env, name) => {
  expect(missingModel(options, env)).toContain(name);
});
