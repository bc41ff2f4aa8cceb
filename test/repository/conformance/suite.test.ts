import { expect, test } from 'vitest';
import { undeclaredExtension } from '../../../conformance/sets.ts';
import { readSummary } from '../../../conformance/suite.ts';

const SUMMARY = `
=== SUITE SUMMARY ===

✓ initialize: 1 passed, 0 failed
✗ auth/dpop: 0 passed, 1 failed, 2 warnings
- sse-retry: skipped

Total: 1 passed, 1 failed, 2 warnings, 1 skipped
`;

test('every scenario of the summary is read, whatever came of it', () => {
  const said = `Running all suite (3 scenarios) in parallel...\n${SUMMARY}`;
  expect(readSummary(said)).toEqual(['initialize', 'auth/dpop', 'sse-retry']);
});

test('the summary of server scenarios is read', () => {
  const said =
    'Running requirements 2025-11-25 (2 scenarios) against http://127.0.0.1:1/mcp\n\n=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ tools-list: 0 passed, 1 failed\n';
  expect(readSummary(said)).toEqual(['ping', 'tools-list']);
});

test('scenarios of an undeclared extension have a reason not to be counted', () => {
  expect(undeclaredExtension('tasks-lifecycle')).toMatch(/^not counted: .*io\.modelcontextprotocol\/tasks$/);
  expect(undeclaredExtension('tools-list')).toBeUndefined();
});

test.each([
  ['a scenario is missing', `Running all suite (4 scenarios) in parallel...\n${SUMMARY}`],
  ['it never came to a summary', 'Running all suite (3 scenarios) in parallel...'],
  ['it announced nothing', SUMMARY],
])('a summary is not believed if %s', (_, said) => {
  expect(readSummary(said)).toBeUndefined();
});
