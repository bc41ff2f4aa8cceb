import { expect, test } from 'vitest';
import { faultOf } from '../../../src/agent/models/fault.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const API = { url: 'http://api', variable: 'OPENAI_BASE_URL', timeoutMs: 1000 };

test.each([
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': '250', 'retry-after': '2' }, 250],
  [{}, undefined],
])('the headers %o ask for %s ms', (headers, ms) => {
  const thrown = Object.assign(new Error('slow'), {
    status: 429,
    headers: new Headers(Object.entries(headers)),
  });
  expect(faultOf(thrown, API, NOW).retryAfterMs).toBe(ms);
});

test('secrets in the endpoint and in what it said are not repeated', () => {
  const { message } = faultOf(
    new Error('bad key sk-abcdefghijkl'),
    { ...API, url: 'http://me:hunter2@api/v1' },
    NOW,
  );
  expect(message).not.toMatch(/hunter2|abcdefghijkl/);
});

test('what was thrown is kept as the cause, and something unknown has failed', () => {
  const thrown = new SyntaxError('Unexpected token');
  expect(faultOf(thrown, API, NOW)).toMatchObject({
    code: 'failed',
    status: undefined,
    cause: thrown,
  });
});
