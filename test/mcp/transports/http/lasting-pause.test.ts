import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LASTING_PAUSE, pauseMs, retryOf } from '../../../../src/mcp/transports/http/lasting-pause.ts';

test.each([
  { asked: undefined, failures: 0, ms: 1000 },
  { asked: undefined, failures: 3, ms: 8000 },
  { asked: undefined, failures: 5000, ms: 30_000 },
  { asked: 5000, failures: 0, ms: 5000 },
  { asked: 5000, failures: 1, ms: 10_000 },
  { asked: 0, failures: 0, ms: 1000 },
  { asked: 0, failures: 9, ms: 30_000 },
  { asked: 2 ** 31, failures: 0, ms: 30_000 },
  { asked: Number.POSITIVE_INFINITY, failures: 0, ms: 30_000 },
])('asked for $asked ms, after $failures failures the pause is $ms ms', ({ asked, failures, ms }) => {
  expect(pauseMs(asked, failures, LASTING_PAUSE)).toBe(ms);
});

test('whatever a server asks for, it is neither asked without a pause nor forgotten', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{1,400}$/), fc.nat(), (digits, failures) => {
      const ms = pauseMs(retryOf(`retry: ${digits}\ndata: a\n\n`), failures, LASTING_PAUSE);
      expect(ms).toBeGreaterThanOrEqual(1000);
      expect(ms).toBeLessThanOrEqual(30_000);
    }),
  );
});

test.each([
  ['retry: 20\n\n', 20],
  ['data: a\r\nretry:20\r\n\r\n', 20],
  ['retry: soon\n\n', undefined],
  ['retry: -1\n\n', undefined],
  ['data: retry: 20\n\n', undefined],
])('%j asks for %j', (event, ms) => {
  expect(retryOf(event)).toBe(ms);
});
