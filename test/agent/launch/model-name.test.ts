import { expect, test } from 'vitest';
import {
  firstName,
  MODEL_ALIASES,
  type ModelTarget,
  resolveModelName,
} from '../../../src/agent/launch/model-name.ts';

const KEY = { ANTHROPIC_API_KEY: 'key' };
const BOTH = { ...KEY, OPENAI_API_KEY: 'other' };
const anthropic = (name: string): ModelTarget => ({ kind: 'anthropic', name, credential: { apiKey: 'key' } });

test.each<[string, Record<string, string>, ModelTarget]>([
  ['m', KEY, anthropic('m')],
  ['', KEY, anthropic('claude-opus-5-5')],
  ['haiku', KEY, anthropic('claude-haiku-5-5')],
  ['anthropic:opus', BOTH, anthropic('claude-opus-5-5')],
  ['m', BOTH, anthropic('m')],
  ['m', { ANTHROPIC_AUTH_TOKEN: 't' }, { kind: 'anthropic', name: 'm', credential: { authToken: 't' } }],
  ['m', { ANTHROPIC_AUTH_TOKEN: 't', ...KEY }, anthropic('m')],
  [
    'm',
    { ANTHROPIC_BASE_URL: 'http://x' },
    { kind: 'anthropic', name: 'm', credential: { apiKey: 'none' }, baseUrl: 'http://x' },
  ],
  ['openai:gpt', BOTH, { kind: 'openai', name: 'gpt', apiKey: 'other' }],
  ['opus', { OPENAI_BASE_URL: 'http://x/v1' }, { kind: 'openai', name: 'opus', baseUrl: 'http://x/v1' }],
  ['rehearsal', {}, { kind: 'rehearsal' }],
  ['scripted:./a:b.json', {}, { kind: 'scripted', file: './a:b.json' }],
])('"%s" with %j', (given, env, place) => {
  expect(resolveModelName(given, env)).toEqual(place);
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    '',
    { ANTHROPIC_API_KEY: '' },
    /^No model is available: none of ANTHROPIC_API_KEY, .*, OPENAI_BASE_URL is set; .* --model rehearsal/,
  ],
  ['m', {}, /^The model "m" cannot be used: none of ANTHROPIC_API_KEY/],
  ['openai:gpt', KEY, /: none of OPENAI_API_KEY, OPENAI_BASE_URL is set/],
  ['anthropic:m', { OPENAI_API_KEY: 'k' }, /: none of ANTHROPIC_API_KEY/],
  ['', { OPENAI_API_KEY: 'k' }, /no model is selected: set --model or TOOLPLANE_MODEL to openai:<name>/],
  [
    'm',
    { ANTHROPIC_BASE_URL: 'sk-secret' },
    /^No model is available: ANTHROPIC_BASE_URL is not a complete URL; set it to one with scheme and host$/,
  ],
  ['m', { OPENAI_BASE_URL: 'nowhere' }, /^No model is available: OPENAI_BASE_URL is not a complete URL; /],
])('"%s" with %j is missing; the message lists the variables', (given, env, says) => {
  const place = resolveModelName(given, env);
  expect(place).toEqual({ kind: 'missing', lookedFor: expect.stringMatching(says) });
  expect(JSON.stringify(place)).not.toMatch(/\\n|sk-secret/);
});

test('aliases resolve to model names directly', () => {
  expect(Object.values(MODEL_ALIASES).filter((name) => name in MODEL_ALIASES)).toEqual([]);
});

test('the first name that is set wins', () => {
  expect(firstName(undefined, '', 'a', 'b')).toBe('a');
  expect(firstName(undefined)).toBe('');
});
