import { expect, test } from 'vitest';
import type { RegisteredHook } from '../../src/hooks/match-hooks.ts';
import { readCallbackHooks, SessionHooks } from '../../src/hooks/session-hooks.ts';

test.each([
  [
    'one callback',
    { Stop: [{ hookCallbackIds: ['h0'] }] },
    [{ event: 'Stop', target: { kind: 'callback', id: 'h0' } }],
  ],
  [
    'all members; the time-out is in seconds',
    { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['a', 'b'], timeout: 2, onFailure: 'continue' }] },
    ['a', 'b'].map((id) => ({
      event: 'PreToolUse',
      matcher: 'Bash',
      timeoutMs: 2000,
      onFailure: 'continue',
      target: { kind: 'callback', id },
    })),
  ],
  [
    'members that are none',
    { Stop: [{ matcher: 7, hookCallbackIds: ['h'], timeout: -1, onFailure: 'explode' }] },
    [{ event: 'Stop', target: { kind: 'callback', id: 'h' } }],
  ],
  ['ids that are none', { Stop: [{ hookCallbackIds: [7, null] }, { hookCallbackIds: 'h' }, null] }, []],
  ['unknown events', { Nope: [{ hookCallbackIds: ['h'] }], constructor: [{ hookCallbackIds: ['h'] }] }, []],
  ['no object', [['Stop']], []],
  ['null', null, []],
])('reads %s', (_, value, expected) => {
  expect(readCallbackHooks(value)).toEqual(expected);
});

function hooksOf(hooks: RegisteredHook[], answer: (id: string, signal: AbortSignal) => Promise<unknown>) {
  const failures: string[] = [];
  const messages: string[] = [];
  const session = new SessionHooks({
    hooks,
    base: () => ({ session_id: 's', transcript_path: '', cwd: '/' }),
    context: {
      callback: (id, _, __, signal) => answer(id, signal),
      spawn: async () => ({ code: 0, stdout: 'from the shell', stderr: '' }),
    },
    onFailure: ({ message }) => failures.push(message),
    onMessage: (message) => messages.push(message),
  });
  return { session, failures, messages };
}

const callback = (id: string): RegisteredHook => ({
  event: 'SessionStart',
  target: { kind: 'callback', id },
});
const shell: RegisteredHook = { event: 'SessionStart', target: { kind: 'command', command: 'x' } };
const never = new AbortController().signal;

test('new callbacks replace the old ones; commands stay', async () => {
  const called: string[] = [];
  const { session } = hooksOf([shell, callback('old')], async (id) => {
    called.push(id);
    return {};
  });
  session.setCallbacks([callback('new')]);
  expect(await session.run('SessionStart', { source: 'clear' }, never)).toEqual({
    additionalContext: 'from the shell',
  });
  expect(called).toEqual(['new']);
});

test('an event without hooks calls nothing', async () => {
  const { session } = hooksOf([callback('a')], () => expect.unreachable());
  expect(session.has('Stop')).toBe(false);
  expect(await session.run('Stop', { stop_hook_active: false }, never)).toEqual({});
});

test('truncates long texts', async () => {
  const long = 'x'.repeat(50_000);
  const { session, messages } = hooksOf([callback('a')], async () => ({
    decision: 'block',
    reason: long,
    systemMessage: 'hello',
    hookSpecificOutput: { additionalContext: long },
  }));
  const { reason, additionalContext } = await session.run('SessionStart', { source: 'clear' }, never);
  expect([reason?.length, additionalContext?.length]).toEqual([10_007, 10_007]);
  expect(messages).toEqual(['hello']);
});

test('reports a failed hook, but not an aborted one', async () => {
  const failing = hooksOf([callback('a')], async () => Promise.reject(new Error('broke')));
  await failing.session.run('SessionStart', { source: 'clear' }, never);
  expect(failing.failures).toEqual(['broke']);
  const abort = new AbortController();
  const cancelled = hooksOf([callback('a')], () => new Promise(() => abort.abort()));
  await cancelled.session.run('SessionStart', { source: 'clear' }, abort.signal);
  expect(cancelled.failures).toEqual([]);
});
