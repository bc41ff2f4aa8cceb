import { expect, test } from 'vitest';
import type { Outcome } from '../../../chaos/judge.ts';
import { judgeEnd } from '../../../chaos/judge-end.ts';

const pass = { pass: true, note: 'fine' };
const closed: Outcome<unknown> = { kind: 'answered', value: undefined, ms: 3 };

test.each<[string, Outcome<unknown>, number, { pass: boolean; note: string }]>([
  ['it closes and nothing is left', closed, 0, pass],
  [
    'close() does not end',
    { kind: 'silent', ms: 10_000 },
    0,
    { pass: false, note: 'close() does not end within 10000 ms' },
  ],
  [
    'close() rejects',
    { kind: 'rejected', reason: 'it is gone', ms: 3 },
    0,
    { pass: false, note: 'close() fails: it is gone' },
  ],
  ['a process is left', closed, 2, { pass: false, note: '2 processes are left after close()' }],
])('%s', async (_, closing, left, expected) => {
  expect(await judgeEnd(pass, closing, async () => left)).toEqual(expected);
});

test('a play that has failed already stays failed for its own reason', async () => {
  const failed = { pass: false, note: 'it hangs' };
  expect(await judgeEnd(failed, { kind: 'silent', ms: 10_000 }, async () => 2)).toEqual(failed);
});
