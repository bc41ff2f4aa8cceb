import { describe, expect, test } from 'vitest';
import { FAILURE_POLICY, type RegisteredHook } from '../../src/hooks/match-hooks.ts';

import { type HookContext, runHooks } from '../../src/hooks/run-hooks.ts';
import { HOOK_EVENTS, type HookInput } from '../../src/protocol/hook.ts';
import { callback, preToolUse, stop } from './inputs.ts';

const spawn: HookContext['spawn'] = async () => ({ code: 0, stdout: '', stderr: '' });
const answers = (table: Record<string, () => unknown>): HookContext => ({
  callback: async (id) => table[id]?.(),
  spawn,
});
const silent: HookContext = { callback: () => new Promise(() => {}), spawn };
const run = (
  hooks: RegisteredHook[],
  input: HookInput,
  world = answers({}),
  signal = new AbortController().signal,
) => runHooks(hooks, input, world, { toolUseId: 'toolu_1', signal });
const fail = () => {
  throw new Error('broke');
};

describe('callbacks', () => {
  test('a callback gets the input and the id of the tool use', async () => {
    const told: unknown[] = [];
    const world = { ...silent, callback: async (...given: unknown[]) => void told.push(given.slice(0, 3)) };
    const input = preToolUse('Bash');
    expect(await run([callback('h')], input, world)).toEqual({ effect: {}, ran: 1, failures: [] });
    expect(told).toEqual([['h', input, 'toolu_1']]);
  });

  test('merges effects in the order of registration, not of completion', async () => {
    const first = Promise.withResolvers<void>();
    const output = (a: number) => ({ hookSpecificOutput: { updatedInput: { a } } });
    const world = answers({
      slow: () => first.promise.then(() => output(1)),
      fast: () => {
        first.resolve();
        return output(2);
      },
    });
    const { effect } = await run([callback('slow'), callback('fast')], preToolUse('Bash'), world);
    expect(effect.updatedInput).toEqual({ a: 2 });
  });

  test('only matching hooks run', async () => {
    const { ran, effect } = await run(
      [callback('h', { matcher: 'Read' })],
      preToolUse('Bash'),
      answers({ h: fail }),
    );
    expect({ ran, effect }).toEqual({ ran: 0, effect: {} });
  });
});

describe('failures', () => {
  test('a guard that throws blocks', async () => {
    const { effect, failures } = await run([callback('h')], preToolUse('Bash'), answers({ h: fail }));
    expect(effect).toEqual({
      decision: 'deny',
      reason: 'A PreToolUse hook failed: broke',
      hasFailed: true,
    });
    expect(failures).toMatchObject([{ message: 'broke', consequence: 'block' }]);
  });

  test('a guard with invalid output blocks', async () => {
    const { effect } = await run(
      [callback('h')],
      preToolUse('Bash'),
      answers({ h: () => ({ decision: 'maybe' }) }),
    );
    expect(effect.decision).toBe('deny');
  });

  test('a failed hook that is not a guard is reported and changes nothing', async () => {
    const { effect, failures } = await run([callback('h', { event: 'Stop' })], stop, answers({ h: fail }));
    expect(effect).toEqual({});
    expect(failures).toMatchObject([{ consequence: 'continue' }]);
  });

  test('the setting of a hook overrides the policy', async () => {
    const world = answers({ h: fail });
    const open = await run([callback('h', { onFailure: 'continue' })], preToolUse('Bash'), world);
    const closed = await run([callback('h', { event: 'Stop', onFailure: 'block' })], stop, world);
    expect([open.effect.decision, closed.effect.decision]).toEqual([undefined, 'deny']);
  });

  test('a hook that exceeds its timeout has failed and is aborted', async () => {
    let told: AbortSignal | undefined;
    const world: HookContext = {
      ...silent,
      callback: (_id, _input, _use, signal) => {
        told = signal;
        return new Promise(() => {});
      },
    };
    const { effect } = await run([callback('h', { timeoutMs: 5 })], preToolUse('Bash'), world);
    expect(effect).toEqual({
      decision: 'deny',
      reason:
        'A PreToolUse hook failed: timed out after 0.005 s; raise its "timeout" (in seconds) if it may take longer',
      hasFailed: true,
    });
    expect(told?.aborted).toBe(true);
  });

  test('an interrupt ends the wait', async () => {
    const controller = new AbortController();
    const outcome = run([callback('h')], preToolUse('Bash'), silent, controller.signal);
    controller.abort();
    expect((await outcome).failures).toMatchObject([{ message: 'interrupted while the hook ran' }]);
    const after = await run([callback('h')], preToolUse('Bash'), silent, controller.signal);
    expect(after.failures).toMatchObject([{ message: 'interrupted before the hook ran' }]);
  });

  test('every event has a policy', () => {
    expect(Object.keys(FAILURE_POLICY).sort()).toEqual([...HOOK_EVENTS].sort());
  });
});
