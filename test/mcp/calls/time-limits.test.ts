import { expect, test } from 'vitest';
import { CALL_TIMEOUT_MS, timeLimits } from '../../../src/mcp/calls/time-limits.ts';

const silent = { hasProgressListener: false };
const heard = { hasProgressListener: true };

test.each([
  [
    'nothing is configured: about 28 hours (R183, C25)',
    { call: silent, entry: {}, host: {} },
    { totalMs: 100_000_000, totalBy: 'callTimeoutMs' },
  ],
  [
    'the host',
    { call: silent, entry: {}, host: { callTimeoutMs: 5, idleTimeoutMs: 2 } },
    { totalMs: 5, totalBy: 'callTimeoutMs', idleMs: 2, idleBy: 'idleTimeoutMs' },
  ],
  [
    'the entry beats the host',
    { call: silent, entry: { timeout: 4, idleTimeoutMs: 1 }, host: { callTimeoutMs: 5, idleTimeoutMs: 2 } },
    {
      totalMs: 4,
      totalBy: '"timeout" of the server entry',
      idleMs: 1,
      idleBy: '"idleTimeoutMs" of the server entry',
    },
  ],
  [
    "the tool's own limit beats the entry's",
    { call: silent, entry: { timeout: 4, toolTimeoutsMs: { slow: 90, other: 1 } }, host: {} },
    { totalMs: 90, totalBy: '"toolTimeoutsMs" of the server entry' },
  ],
  [
    'the call beats all; without progress it is the total',
    { call: { timeoutMs: 3, hasProgressListener: false }, entry: { toolTimeoutsMs: { slow: 90 } }, host: {} },
    { totalMs: 3, totalBy: 'timeoutMs of the call' },
  ],
  [
    'with progress it is the silence, and the total stays what it was',
    { call: { timeoutMs: 3, hasProgressListener: true }, entry: { timeout: 4 }, host: { idleTimeoutMs: 9 } },
    { totalMs: 4, totalBy: '"timeout" of the server entry', idleMs: 3, idleBy: 'timeoutMs of the call' },
  ],
  [
    'who only hears progress changes nothing',
    { call: heard, entry: {}, host: {} },
    { totalMs: CALL_TIMEOUT_MS, totalBy: 'callTimeoutMs' },
  ],
])('limits of a call: %s', (_, sources, limits) => {
  expect(timeLimits('slow', sources)).toEqual(limits);
});

test('a tool named like a member of every object has no limit by that', () => {
  const limits = timeLimits('constructor', { call: silent, entry: { toolTimeoutsMs: {} }, host: {} });
  expect(limits).toEqual({ totalMs: CALL_TIMEOUT_MS, totalBy: 'callTimeoutMs' });
});
