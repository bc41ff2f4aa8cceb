import { expect, test } from 'vitest';
import { readResultSettings } from '../../../src/agent/launch/result-settings.ts';

const COUNT = ['MAX_MCP_OUTPUT_TOKENS must be a whole number above 0: it is not used'];
const WORD = ['ENABLE_MCP_LARGE_OUTPUT_FILES is true or false: it is not used'];

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
