import { expect, test } from 'vitest';
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

test.each([
  ['a scenario is missing', `Running all suite (4 scenarios) in parallel...\n${SUMMARY}`],
  ['it never came to a summary', 'Running all suite (3 scenarios) in parallel...'],
  ['it announced nothing', SUMMARY],
])('a summary is not believed if %s', (_, said) => {
  expect(readSummary(said)).toBeUndefined();
});
