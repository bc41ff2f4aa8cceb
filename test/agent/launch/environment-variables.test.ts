import { describe, expect, test } from 'vitest';
import {
  readRequestSettings,
  readResultSettings,
  shellEnvironment,
} from '../../../src/agent/launch/environment-variables.ts';

describe('request settings', () => {
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
  ])('%s=%s is ignored with a warning', (name, value) => {
    const { retry, timeout, notes } = readRequestSettings({}, { [name]: value });
    expect([retry, timeout]).toEqual([{}, {}]);
    expect(notes).toEqual([expect.stringMatching(`^${name} must be a whole number`)]);
  });
});

describe('result settings', () => {
  const COUNT = ['MAX_MCP_OUTPUT_TOKENS must be a whole number from 1 to 999999999; using the default'];
  const WORD = ['ENABLE_MCP_LARGE_OUTPUT_FILES must be true or false; ignored'];

  test.each<[Record<string, string>, object, string[]]>([
    [{}, {}, []],
    [{ MAX_MCP_OUTPUT_TOKENS: '', ENABLE_MCP_LARGE_OUTPUT_FILES: '' }, {}, []],
    [{ MAX_MCP_OUTPUT_TOKENS: ' 500 ' }, { maxResultTokens: 500 }, []],
    [{ MAX_MCP_OUTPUT_TOKENS: '0' }, {}, COUNT],
    [{ MAX_MCP_OUTPUT_TOKENS: '25k' }, {}, COUNT],
    [{ ENABLE_MCP_LARGE_OUTPUT_FILES: 'False' }, { resultFiles: false }, []],
    [{ ENABLE_MCP_LARGE_OUTPUT_FILES: '0' }, { resultFiles: false }, []],
    [{ ENABLE_MCP_LARGE_OUTPUT_FILES: 'true' }, {}, []],
    [{ ENABLE_MCP_LARGE_OUTPUT_FILES: 'maybe' }, {}, WORD],
  ])('%j means %j', (env, options, notes) => {
    expect(readResultSettings(env)).toEqual({ options, notes });
  });
});

describe('shell environment', () => {
  test('shell commands do not get secrets, except those that TOOLPLANE_PASS_ENV names', () => {
    const harmless = { PATH: '/bin', HOME: '/h', LANG: 'C', NODE_ENV: 'test', KEYBOARD: 'us', EDITOR: 'vi' };
    const secret = {
      ANTHROPIC_API_KEY: 'a',
      ANTHROPIC_AUTH_TOKEN: 'b',
      ANTHROPIC_CUSTOM_HEADERS: 'c',
      OPENAI_API_KEY: 'd',
      AWS_SECRET_ACCESS_KEY: 'e',
      GITHUB_TOKEN: 'f',
      DB_PASSWORD: 'g',
    };
    expect(shellEnvironment({ ...harmless, ...secret })).toEqual(harmless);
    const TOOLPLANE_PASS_ENV = 'GITHUB_TOKEN, DB_PASSWORD';
    expect(shellEnvironment({ ...harmless, ...secret, TOOLPLANE_PASS_ENV })).toEqual({
      ...harmless,
      TOOLPLANE_PASS_ENV,
      GITHUB_TOKEN: 'f',
      DB_PASSWORD: 'g',
    });
  });
});
