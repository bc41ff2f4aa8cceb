import { expect, test } from 'vitest';
import { describeAccount, listModels } from '../../../src/agent/launch/model-list.ts';

const KEY = { ANTHROPIC_API_KEY: 'secret-1' };

test('the short names of Anthropic, and the current model if it has none', () => {
  expect(listModels('claude-opus-5-5', KEY).map(({ value }) => value)).toEqual([
    'default',
    'sonnet',
    'opus',
    'haiku',
    'fable',
  ]);
  const models = listModels('claude-sonnet-5', KEY);
  expect(models.at(-1)).toEqual({
    value: 'claude-sonnet-5',
    resolvedModel: 'claude-sonnet-5',
    displayName: 'Sonnet 5',
    description: 'Sonnet 5 · $2/$10 per Mtok',
    supportsEffort: true,
    supportedEffortLevels: ['low', 'medium', 'high', 'xhigh', 'max'],
    supportsAdaptiveThinking: true,
  });
  expect(models[0]).toMatchObject({ displayName: 'Default (recommended)', resolvedModel: 'claude-opus-5-5' });
  expect(models[3]).toMatchObject({
    displayName: 'Haiku',
    description: 'Haiku 5.5 · $0.10/$0.50 per Mtok ($0.50/$2.50 for prompts over 100k)',
  });
});

test('a model of another provider, without known figures', () => {
  expect(listModels('openai:gpt-x', { OPENAI_API_KEY: 'k' })).toEqual([
    { value: 'openai:gpt-x', resolvedModel: 'openai:gpt-x', displayName: 'openai:gpt-x', description: '' },
  ]);
});

test.each([
  [KEY, { tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY', apiProvider: 'firstParty' }],
  [{ ANTHROPIC_AUTH_TOKEN: 't' }, { tokenSource: 'ANTHROPIC_AUTH_TOKEN', apiProvider: 'firstParty' }],
  [{ OPENAI_API_KEY: 'k' }, {}],
])('the account of %j', (env, account) => {
  expect(describeAccount('x', env)).toEqual(account);
});
