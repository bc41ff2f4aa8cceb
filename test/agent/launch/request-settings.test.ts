import { expect, test } from 'vitest';
import { readRequestSettings } from '../../../src/agent/launch/request-settings.ts';

test.each([
  [{}, {}, {}, {}],
  [{}, { CLAUDE_CODE_MAX_RETRIES: '3', API_TIMEOUT_MS: '5000' }, { maxRetries: 3 }, { timeoutMs: 5000 }],
  [{ maxRetries: 0 }, { CLAUDE_CODE_MAX_RETRIES: '3' }, { maxRetries: 0 }, {}],
  [{}, { CLAUDE_CODE_MAX_RETRIES: ' ', API_TIMEOUT_MS: '' }, {}, {}],
])('flags %j and environment %j', (flags, env, retry, timeout) => {
  expect(readRequestSettings(flags, env)).toEqual({ retry, timeout, notes: [] });
});

test.each([
  ['CLAUDE_CODE_MAX_RETRIES', '-1'],
  ['CLAUDE_CODE_MAX_RETRIES', 'many'],
  ['CLAUDE_CODE_MAX_RETRIES', '1e9'],
  ['API_TIMEOUT_MS', '0'],
  ['API_TIMEOUT_MS', '99999999999'],
])('%s=%s is named and ignored', (name, value) => {
  const { retry, timeout, notes } = readRequestSettings({}, { [name]: value });
  expect([retry, timeout]).toEqual([{}, {}]);
  expect(notes).toEqual([expect.stringMatching(`^${name} must be a whole number`)]);
});
