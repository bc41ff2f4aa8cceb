import { expect, test } from 'vitest';
import { addCall, changeCall, NO_CALLS } from '../../../src/cli/chat/call-log.ts';
import { statusLine } from '../../../src/cli/chat/status-line.ts';
import { EMPTY_VIEW } from '../../../src/cli/chat/view.ts';

test('the oldest call that runs, how many more, or that the model thinks', () => {
  const call = (id: string, since: number) => ({
    id,
    name: id,
    input: {},
    isNested: false,
    since,
    outcome: 'running' as const,
  });
  const two = addCall(addCall(NO_CALLS, call('one', 1_000)), call('two', 2_000));
  const status = (calls: typeof two) => statusLine({ ...EMPTY_VIEW, calls }, 500, 5_000);
  expect(status(NO_CALLS)).toBe('thinking 4.5 s · Ctrl-C interrupts');
  expect(status(two)).toBe('one 4.0 s and 1 more · Ctrl-C interrupts');
  expect(status(changeCall(two, 'one', { progress: { done: 1, total: 3, message: 'reading' } }))).toBe(
    'one 4.0 s · 33 % reading and 1 more · Ctrl-C interrupts',
  );
  expect(status(changeCall(two, 'one', { outcome: 'ok' }))).toBe('two 3.0 s · Ctrl-C interrupts');
});
