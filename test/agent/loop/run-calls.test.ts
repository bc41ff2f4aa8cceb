import { expect, test } from 'vitest';
import {
  type CallEvent,
  INTERRUPTED,
  type PreparedCall,
  runCalls,
  type ToolOutcome,
} from '../../../src/agent/loop/run-calls.ts';

/** Two calls that run side by side, interrupted when both run. */
async function interrupted(run: (signal: AbortSignal) => Promise<ToolOutcome>): Promise<ToolOutcome[]> {
  const controller = new AbortController();
  const calls = ['1', '2'].map((id) => ({ id, name: 'slow', input: {} }));
  const prepare = async (): Promise<PreparedCall> => ({ kind: 'run', isConcurrent: true, run });
  let running = 0;
  const onEvent = ({ kind }: CallEvent) => {
    if (kind === 'call-started') running += 1;
    if (running === calls.length) setImmediate(() => controller.abort());
  };
  return runCalls(calls, prepare, onEvent, controller.signal);
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

test('an interrupted call may report its own outcome within the grace period', async () => {
  const own = { content: 'half of it\nInterrupted', isError: true };
  const outcomes = await interrupted(async (signal) => {
    await aborted(signal);
    await new Promise((resolve) => setImmediate(resolve));
    return own;
  });
  expect(outcomes).toEqual([own, own].map((outcome) => ({ ...outcome, isInterrupted: true })));
});

test.each<[string, (signal: AbortSignal) => Promise<ToolOutcome>]>([
  ['never settles', () => new Promise<never>(() => {})],
  ['fails of the interrupt', (signal) => aborted(signal).then(() => Promise.reject(new Error('cut off')))],
])('a call that %s gets the common outcome of interrupted calls', async (_, run) => {
  const outcome = { content: INTERRUPTED, isError: true, isInterrupted: true };
  expect(await interrupted(run)).toEqual([outcome, outcome]);
});
