import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { missingModel } from '../../../src/cli/chat/conversation.ts';

const HOME = mkdtempSync(join(tmpdir(), 'toolplane-model-'));
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

const KEY = { ANTHROPIC_API_KEY: 'k' };

test.each([
  ['a key', {}, KEY],
  ['a key for the model named', { model: 'opus' }, KEY],
  ['the rehearsal', { model: 'rehearsal' }, {}],
  ['the rehearsal by the environment', {}, { TOOLPLANE_MODEL: 'rehearsal' }],
  ['an agent of its own settings', { pathToClaudeCodeExecutable: 'claude' }, {}],
  ['settings, which may have a key', { settings: 'settings.json' }, {}],
])('with %s a model is found', async (_, options, env) => {
  expect(await missingModel(options, { HOME, ...env }, HOME)).toBeUndefined();
});

test.each([
  ['no key', {}, {}, 'ANTHROPIC_API_KEY'],
  ['a key of another provider', { model: 'openai:gpt' }, KEY, 'OPENAI_API_KEY'],
])('with %s the message names the settings that were checked', async (_, options, env, name) => {
  expect(await missingModel(options, { HOME, ...env }, HOME)).toContain(name);
});

test.each([
  ['model', { model: 'rehearsal' }],
  ['env', { env: KEY }],
])('the key %s of settings files counts', async (_, settings) => {
  mkdirSync(join(HOME, '.toolplane'), { recursive: true });
  writeFileSync(join(HOME, '.toolplane', 'settings.json'), JSON.stringify(settings));
  expect(await missingModel({}, { HOME }, HOME)).toBeUndefined();
  expect(await missingModel({ settingSources: [] }, { HOME }, HOME)).toContain('ANTHROPIC_API_KEY');
});
