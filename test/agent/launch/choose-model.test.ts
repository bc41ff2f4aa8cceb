import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chooseModel } from '../../../src/agent/launch/choose-model.ts';
import type { Model, ModelEvent, ModelRequest } from '../../../src/agent/models/model.ts';
import type { EffortLevel } from '../../../src/protocol/system-message.ts';
import { type Script, startMessagesApi } from '../../support/model-api/messages-api.ts';
import { error, text } from '../../support/model-api/model-reply.ts';
import { chunk, startOpenAiApi } from '../../support/model-api/openai-api.ts';

async function ask(model: Model, name: string, more: Partial<ModelRequest> = {}): Promise<string> {
  const request = { model: name, system: '', tools: [], maxTokens: 100, signal: AbortSignal.timeout(5_000) };
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'list tools' }] }];
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ ...request, messages, ...more })) events.push(event);
  const said = events.flatMap((it) =>
    it.type === 'content_block_delta' && it.delta.type === 'text_delta' ? [it.delta.text] : [],
  );
  return said.join('');
}

async function api(script: Script) {
  const started = await startMessagesApi(script);
  onTestFinished(() => started.close());
  return started;
}

test('Anthropic: resolves the alias and sends thinking and betas', async () => {
  const { url, requests, betas } = await api([text('hello')]);
  const { model, modelName, lookedFor } = chooseModel(
    { model: 'sonnet', thinkingDisplay: 'summarized', betas: ['b-1', 'b-2'] },
    { ANTHROPIC_BASE_URL: url },
  );
  expect({ modelName, lookedFor }).toEqual({ modelName: 'claude-sonnet-5-5', lookedFor: undefined });
  expect(await ask(model, modelName, { maxTokens: 9000 })).toBe('hello');
  expect(requests[0]).toMatchObject({
    model: 'claude-sonnet-5-5',
    thinking: { type: 'adaptive', display: 'summarized' },
  });
  expect(betas).toEqual(['b-1,b-2']);
});

type Flags = Parameters<typeof chooseModel>[0];

const ADAPTIVE = { type: 'adaptive' };
const DISABLED = { type: 'disabled' };
const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens });

test.each<[string, Flags, unknown]>([
  ['claude-sonnet-5', {}, ADAPTIVE],
  ['claude-sonnet-5', { thinking: 'disabled' }, DISABLED],
  ['claude-sonnet-5', { maxThinkingTokens: 2000 }, ADAPTIVE],
  ['claude-sonnet-5', { maxThinkingTokens: 0 }, DISABLED],
  ['claude-fable-5', { thinking: 'disabled' }, ADAPTIVE],
  ['claude-haiku-4-5', {}, budget(31_999)],
  ['claude-haiku-4-5', { thinking: 'adaptive' }, budget(31_999)],
  ['claude-haiku-4-5', { thinking: 'disabled' }, DISABLED],
  ['claude-haiku-4-5', { maxThinkingTokens: 2000 }, budget(2000)],
  ['claude-3-7-sonnet', { thinking: 'adaptive' }, undefined],
  ['my-own-model', {}, undefined],
  ['my-own-model', { thinking: 'disabled' }, undefined],
  ['my-own-model', { thinking: 'adaptive' }, ADAPTIVE],
  ['my-own-model', { maxThinkingTokens: 2000 }, budget(2000)],
])('the thinking of %s with %o is sent as %o', async (name, flags, sent) => {
  const { url, requests } = await api([text('ok')]);
  const { model } = chooseModel({ model: name, ...flags }, { ANTHROPIC_BASE_URL: url });
  await ask(model, name, { maxTokens: 32_000 });
  expect(requests[0]?.thinking).toEqual(sent);
});

test('a request without thinking, such as one for a summary, is not given any', async () => {
  const { url, requests } = await api([text('ok')]);
  const { model, modelName } = chooseModel({ model: 'claude-haiku-4-5' }, { ANTHROPIC_BASE_URL: url });
  await ask(model, modelName, { thinking: 'disabled' });
  expect(requests[0]?.thinking).toEqual(DISABLED);
});

test.each<[string, EffortLevel | undefined, EffortLevel | undefined, EffortLevel | undefined]>([
  ['claude-sonnet-5', undefined, undefined, 'high'],
  ['sonnet', undefined, undefined, 'medium'],
  ['claude-sonnet-5', 'low', undefined, 'low'],
  ['claude-sonnet-5', 'low', 'max', 'max'],
  ['claude-haiku-4-5', 'low', undefined, undefined],
  ['my-own-model', undefined, undefined, undefined],
  ['my-own-model', 'low', undefined, 'low'],
  ['openai:gpt-x', undefined, undefined, undefined],
  ['openai:gpt-x', 'low', undefined, 'low'],
])('the effort of %s with %s in the flags and %s in the request is %s', (model, effort, requested, sent) => {
  const { effortOf } = chooseModel({ model, effort }, { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' });
  expect(effortOf(model, requested)).toBe(sent);
});

test('the effort of a request is sent', async () => {
  const { url, requests } = await api([text('one'), text('two')]);
  const { model, modelName } = chooseModel(
    { model: 'claude-sonnet-5', effort: 'low' },
    { ANTHROPIC_BASE_URL: url },
  );
  await ask(model, modelName);
  await ask(model, modelName, { effort: 'max' });
  expect(requests.map(({ output_config }) => output_config)).toEqual([{ effort: 'low' }, { effort: 'max' }]);
});

test('a name is resolved as `--model` resolves it; a name with a prefix stays', () => {
  const { resolveName } = chooseModel({}, { ANTHROPIC_API_KEY: 'k' });
  expect(['sonnet', 'claude-x', 'anthropic:haiku', 'openai:x', 'rehearsal'].map(resolveName)).toEqual([
    'claude-sonnet-5-5',
    'claude-x',
    'anthropic:haiku',
    'openai:x',
    'rehearsal',
  ]);
  expect(chooseModel({}, {}).resolveName('sonnet')).toBe('sonnet');
});

test('the suffix [1m] requests a window of a million tokens', async () => {
  const { url, requests, betas } = await api([text('one'), text('two')]);
  const env = { ANTHROPIC_BASE_URL: url };
  const { model, modelName, resolveName } = chooseModel({ model: 'claude-sonnet-4-5[1m]' }, env);
  expect(modelName).toBe('claude-sonnet-4-5[1m]');
  expect(model.limits.contextTokens).toBe(1_000_000);
  await ask(model, modelName);
  await ask(model, resolveName('sonnet[1m]'));
  expect(requests.map((it) => it.model)).toEqual(['claude-sonnet-4-5', 'claude-sonnet-5-5']);
  expect(betas).toEqual(['context-1m-2025-08-07', '']);
});

test('opusplan has another model in plan mode', () => {
  const { modelName, planModelName, planNameOf } = chooseModel(
    { model: 'opusplan' },
    { ANTHROPIC_API_KEY: 'k' },
  );
  expect([modelName, planModelName]).toEqual(['claude-sonnet-5-5', 'claude-opus-5-5']);
  expect(['opusplan[1m]', 'anthropic:opusplan', 'opus'].map(planNameOf)).toEqual([
    'claude-opus-5-5',
    'anthropic:opus',
    undefined,
  ]);
});

test.each([
  [{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_MODEL: 'claude-x' }, 'claude-opus-5-5'],
  [{ ANTHROPIC_API_KEY: 'k', TOOLPLANE_MODEL: 'rehearsal' }, 'rehearsal'],
  [{ OPENAI_API_KEY: 'k' }, 'openai:small'],
])('the default model with %j', (env, expected) => {
  expect(chooseModel({ model: 'openai:small' }, env).defaultModelName).toBe(expected);
});

test('only the API of Anthropic has a provider name', () => {
  const { providerOf } = chooseModel({}, { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' });
  const names = ['sonnet', 'claude-sonnet-4-5[1m]', 'openai:small', 'rehearsal'];
  expect(names.map(providerOf)).toEqual(['firstParty', 'firstParty', undefined, undefined]);
});

test('a known Anthropic model has its own limits', () => {
  const limits = (model: string) => chooseModel({ model }, { ANTHROPIC_API_KEY: 'k' }).model.limits;
  expect(limits('claude-sonnet-5')).toMatchObject({ contextTokens: 1_000_000, outputTokens: 64_000 });
  expect(limits('claude-unheard-of')).toMatchObject({ contextTokens: 200_000, outputTokens: 32_000 });
});

test('the model of a later request may be an alias or belong to another provider', async () => {
  const { url, requests } = await api([text('one'), text('two')]);
  const { model, modelName } = chooseModel({ thinking: 'adaptive' }, { ANTHROPIC_BASE_URL: url });
  expect(await ask(model, modelName)).toBe('one');
  expect(await ask(model, 'haiku')).toBe('two');
  expect(await ask(model, 'rehearsal')).toBe('I was given no tools.');
  expect(requests.map((it) => it.model)).toEqual(['claude-opus-5-5', 'claude-haiku-5-5']);
});

test('OpenAI-compatible: selected by prefix, with the output limit of the model', async () => {
  await using api = await startOpenAiApi([{ chunks: [chunk({ content: 'hi' }), chunk({}, 'stop')] }]);
  const { model, modelName } = chooseModel({}, { OPENAI_BASE_URL: api.url, TOOLPLANE_MODEL: 'openai:small' });
  expect(modelName).toBe('openai:small');
  expect(await ask(model, modelName, { maxTokens: 1e6 })).toBe('hi');
  expect(api.requests[0]).toMatchObject({ model: 'small', max_tokens: 16_000 });
});

test('the flag takes precedence over the environment', () => {
  const env = { TOOLPLANE_MODEL: 'a', ANTHROPIC_MODEL: 'b', ANTHROPIC_API_KEY: 'k' };
  expect(chooseModel({ model: 'rehearsal' }, env).modelName).toBe('rehearsal');
  expect(chooseModel({}, env).modelName).toBe('a');
  expect(chooseModel({}, { ...env, TOOLPLANE_MODEL: '' }).modelName).toBe('b');
});

test('retries an overloaded model, then uses the fallback', async () => {
  const { url, requests } = await api((_, n) => (n <= 3 ? error(529, 'busy') : text('from the other')));
  const retry = { sleep: async () => {} };
  const { model, modelName } = chooseModel(
    { model: 'big', fallbackModel: 'haiku' },
    { ANTHROPIC_BASE_URL: url },
    { retry },
  );
  expect(await ask(model, modelName)).toBe('from the other');
  expect(requests.map((it) => it.model)).toEqual(['big', 'big', 'big', 'claude-haiku-5-5']);
});

test('without a model, requests fail with the list of variables', async () => {
  const { model, modelName, lookedFor } = chooseModel({}, {});
  expect(lookedFor).toMatch(/^No model is available: none of/);
  await expect(ask(model, modelName)).rejects.toMatchObject({ code: 'unauthorized', message: lookedFor });
});

test('scripted: replies from a file, relative to the working directory', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'launch-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'script.json'), JSON.stringify(['first', { tool: 'x', input: { a: 1 } }]));
  await writeFile(join(cwd, 'bad.json'), '[{"tol":"x"}]');
  const { model, modelName } = chooseModel({ model: 'scripted:script.json' }, {}, { cwd });
  expect(await ask(model, modelName)).toBe('first');
  expect(await ask(model, modelName)).toBe('');
  await expect(ask(model, modelName)).rejects.toThrow('has no reply for request 3');
  await expect(ask(model, 'scripted:bad.json')).rejects.toThrow('reply 1 is neither a string nor');
  await expect(ask(model, 'scripted:none.json')).rejects.toMatchObject({ code: 'bad-request' });
});

test('only models of the Anthropic API search the web; the others refuse such a request', async () => {
  const { model } = chooseModel(
    { model: 'sonnet' },
    { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
  );
  const names = ['sonnet', 'opus', 'openai:gpt', 'rehearsal', 'openai:'];
  expect(names.map((name) => model.canSearch?.(name))).toEqual([true, true, false, false, false]);
  const webSearch = { allowed: [], blocked: [] };
  await expect(ask(model, 'openai:gpt', { webSearch })).rejects.toThrow('gpt cannot search the web');
});
