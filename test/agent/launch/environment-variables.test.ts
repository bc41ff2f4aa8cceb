import { describe, expect, test } from 'vitest';
import {
  readListSettings,
  readRequestSettings,
  readResultSettings,
  readTaskSettings,
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
  const WORD = ['the variable ENABLE_MCP_LARGE_OUTPUT_FILES is ignored: its value must be true or false'];

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

describe('task settings', () => {
  const MS = 'CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS';

  test.each<[string, object, Record<string, string>, number | undefined, object]>([
    ['calls stay in the foreground by default', {}, {}, undefined, {}],
    ['the chat has a default', { backgroundCalls: true }, {}, undefined, { backgroundCallsAfterMs: 120_000 }],
    ['settings win over it', { backgroundCalls: true }, {}, 0, { backgroundCallsAfterMs: 0 }],
    ['the variable wins over settings', {}, { [MS]: '500' }, 7_000, { backgroundCallsAfterMs: 500 }],
    ['0 is never', { backgroundCalls: true }, { [MS]: '0' }, 7_000, { backgroundCallsAfterMs: 0 }],
    ['blanks count as not set', {}, { [MS]: ' ' }, 7_000, { backgroundCallsAfterMs: 7_000 }],
    [
      'no background work',
      {},
      { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
      undefined,
      { backgroundTasks: false },
    ],
  ])('%s', (_, flags, env, configured, options) => {
    expect(readTaskSettings(flags, env, configured)).toEqual({ options, notes: [] });
  });

  test.each(['-1', 'soon', '1.5', '99999999999'])('a time of %j is ignored with a warning', (value) => {
    const { options, notes } = readTaskSettings({}, { [MS]: value });
    expect(options).toEqual({});
    expect(notes).toEqual([expect.stringMatching(`^${MS} must be a whole number`)]);
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

test.each<[Record<string, string>, object, number]>([
  [{}, { kind: 'tasks' }, 0],
  [{ CLAUDE_CODE_ENABLE_TASKS: '1' }, { kind: 'tasks' }, 0],
  [{ CLAUDE_CODE_ENABLE_TASKS: '0' }, { kind: 'todos' }, 0],
  [{ CLAUDE_CODE_ENABLE_TASKS: 'false' }, { kind: 'todos' }, 0],
  [{ CLAUDE_CODE_TASK_LIST_ID: ' team_1 ' }, { kind: 'tasks', sharedId: 'team_1' }, 0],
  [{ CLAUDE_CODE_TASK_LIST_ID: '../../etc' }, { kind: 'tasks', sharedId: '------etc' }, 0],
  [{ CLAUDE_CODE_TASK_LIST_ID: '..' }, { kind: 'tasks', sharedId: '--' }, 0],
  [{ CLAUDE_CODE_TASK_LIST_ID: '' }, { kind: 'tasks' }, 0],
  [{ CLAUDE_CODE_TASK_LIST_ID: 'x'.repeat(101) }, { kind: 'tasks' }, 1],
])('lists of work with %j', (env, lists, notes) => {
  const read = readListSettings(env);
  expect(read.options).toEqual({ lists });
  expect(read.notes).toHaveLength(notes);
});

test.each([
  ['1', { teams: true }],
  ['0', {}],
  ['', {}],
])('CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=%s', (value, options) => {
  const read = readTaskSettings({}, { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: value });
  expect(read).toEqual({ options, notes: [] });
});
